// Which texts a server takes: every kernel against the rules, byte by byte.

#include "exec/scan/utf8.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bitmap.h"

namespace loom::exec {
namespace {

using column::BytesView;

bool is_valid(const std::string& text) {
    const auto* p = reinterpret_cast<const uint8_t*>(text.data());
    const uint8_t* const end = p + text.size();
    while (p < end) {
        const int length = utf8_sequence(p, end - p);
        if (length == 0) return false;
        p += length;
    }
    return true;
}

bool is_ascii(const std::string& text) {
    for (const char c : text)
        if (c <= 0) return false;
    return true;
}

BytesView view_of(const std::string& text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), static_cast<int64_t>(text.size())};
}

// Each text lies in a block of its own, so that a sanitizer sees what is read beyond it.
TEST(Utf8, FindsABadByteAnywhere) {
    for (const size_t size : {1, 2, 7, 8, 9, 12, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 200})
        for (size_t at = 0; at < size; ++at)
            for (const char bad : {'\0', '\x80', '\xff', '\x7f'}) {
                const auto block = std::make_unique<char[]>(size);
                std::memset(block.get(), 'a', size);
                block[at] = bad;
                const BytesView text{reinterpret_cast<const uint8_t*>(block.get()),
                                     static_cast<int64_t>(size)};
                for (const AsciiKernel& kernel : ascii_kernels())
                    ASSERT_EQ(kernel.are_ascii(&text, nullptr, 1), bad == '\x7f')
                        << kernel.name << ", size " << size << ", byte " << at;
                ASSERT_EQ(is_server_text(text), bad == '\x7f');
            }
}

TEST(Utf8, KnowsSequences) {
    const auto check = [](const std::string& text, bool valid) {
        for (const std::string& front : {std::string(), std::string(70, 'x')}) {
            const std::string whole = front + text;
            const BytesView view = view_of(whole);
            EXPECT_EQ(is_server_text(view), valid);
            EXPECT_EQ(are_server_texts(&view, nullptr, 1), valid);
        }
    };
    for (const char* good : {"", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                             "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
        check(good, true);
    for (const char* bad :
         {"\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
          "\xf5\x80\x80\x80", "\x80", "\xc2", "\xe2\x82", "\xf0\x9f\x98", "\xc2\x61"})
        check(bad, false);
}

// Batches of texts back to back, as they lie in a page: characters of one to four bytes, some cut
// off by the text's end, NULL rows with garbage.
TEST(Utf8, ChecksBatches) {
    std::mt19937 random(5);
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    constexpr const char* kCharacters[] = {"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    for (const int count : {0, 1, 63, 64, 65, 127, 1023, 1024, 1025, 2048, 4095, 4096})
        for (int round = 0; round < 8; ++round) {
            std::vector<std::string> texts(static_cast<size_t>(count));
            std::vector<uint8_t> validity(static_cast<size_t>(base::bitmap_bytes(count)) + 8, 0xff);
            bool valid = true;
            bool ascii = true;
            std::string block;
            for (int i = 0; i < count; ++i) {
                std::string& text = texts[static_cast<size_t>(i)];
                for (uint32_t left = below(below(4) == 0 ? 90 : 20); left != 0; --left)
                    text += kCharacters[below(round < 4 ? 1 : 4)];
                if (round == 7 && below(2000) == 0 && !text.empty()) text.pop_back();
                const bool null = round % 2 == 1 && below(10) == 0;
                if (null) text = "\xff";
                base::put_bit(validity.data(), i, !null);
                valid = valid && (null || is_valid(text));
                ascii = ascii && (null || is_ascii(text));
                block += text;
            }
            std::vector<BytesView> views;
            size_t at = 0;
            for (const std::string& text : texts) {
                views.push_back({reinterpret_cast<const uint8_t*>(block.data()) + at,
                                 static_cast<int64_t>(text.size())});
                at += text.size();
            }
            const uint8_t* bits = round % 2 == 1 ? validity.data() : nullptr;
            EXPECT_EQ(are_server_texts(views.data(), bits, count), valid);
            for (const AsciiKernel& kernel : ascii_kernels())
                EXPECT_EQ(kernel.are_ascii(views.data(), bits, count), ascii) << kernel.name;
        }
}

// The views of NULL rows are not followed.
TEST(Utf8, LeavesNullsAlone) {
    const std::vector<BytesView> views(100, {reinterpret_cast<const uint8_t*>(16), 1000});
    const std::vector<uint8_t> validity(16, 0);
    EXPECT_TRUE(are_server_texts(views.data(), validity.data(), 100));
    for (const AsciiKernel& kernel : ascii_kernels())
        EXPECT_TRUE(kernel.are_ascii(views.data(), validity.data(), 100)) << kernel.name;
}

}  // namespace
}  // namespace loom::exec
