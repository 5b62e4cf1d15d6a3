#include "simd/text_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace loom::simd {
namespace {

const uint8_t* bytes(const std::string& text) {
    return reinterpret_cast<const uint8_t*>(text.data());
}

TEST(TextSearch, FindsPiecesWhereStdFindsThem) {
    std::mt19937 random(1);
    for (int round = 0; round < 5000; ++round) {
        std::string text(random() % 200, '\0');
        for (char& c : text) c = static_cast<char>('a' + random() % 3);
        std::string piece(1 + random() % 6, '\0');
        for (char& c : piece) c = static_cast<char>('a' + random() % 3);
        // A copy of the exact size shows reads behind the end to sanitizers.
        const std::vector<uint8_t> copy(text.begin(), text.end());
        const uint8_t* found = find_piece(copy.data(), copy.data() + copy.size(), bytes(piece),
                                          static_cast<int64_t>(piece.size()));
        const size_t expected = text.find(piece);
        if (expected == std::string::npos)
            ASSERT_EQ(found, nullptr) << text << ' ' << piece;
        else
            ASSERT_EQ(found - copy.data(), static_cast<int64_t>(expected)) << text << ' ' << piece;
    }
}

TEST(TextSearch, FindsTriplesAndMissesNone) {
    std::mt19937 random(2);
    for (int round = 0; round < 2000; ++round) {
        ByteTriples triples;
        for (int combination = 0; combination < 8; ++combination)
            for (int place = 0; place < 3; ++place)
                for (int n = 0; n < 2; ++n)
                    triples.add(combination, place, static_cast<uint8_t>(random()));
        std::vector<uint8_t> text(random() % 300);
        for (uint8_t& c : text) c = static_cast<uint8_t>(random() % (round % 2 == 0 ? 256 : 40));
        const auto fits = [&](size_t at) {
            return (triples.sets[0][text[at]] & triples.sets[1][text[at + 1]] &
                    triples.sets[2][text[at + 2]]) != 0;
        };
        size_t first = 0;
        while (first + 3 <= text.size() && !fits(first)) ++first;
        const bool any = first + 3 <= text.size();
        // Halves may fit earlier; then the search goes on behind.
        const uint8_t* const end = text.data() + text.size();
        const uint8_t* at = text.data();
        for (;; ++at) {
            at = find_triple(triples, at, end);
            if (at == nullptr || fits(static_cast<size_t>(at - text.data()))) break;
        }
        ASSERT_EQ(at != nullptr, any);
        if (any) {
            ASSERT_EQ(at - text.data(), static_cast<int64_t>(first));
        }
    }
}

}  // namespace
}  // namespace loom::simd
