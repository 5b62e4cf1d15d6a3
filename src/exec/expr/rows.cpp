#include "exec/expr/rows.h"

#include <bit>
#include <cstring>

#include "simd/mask.h"

namespace loom::exec {

namespace {

struct Wide {
    uint64_t words[2];
};
static_assert(sizeof(plan::Decimal) == 32);

// Calls body with a value of the type that is moved for `width` bytes.
template <typename Body>
void by_width(int width, Body body) {
    switch (width) {
        case 1:
            return body(uint8_t{});
        case 2:
            return body(uint16_t{});
        case 4:
            return body(uint32_t{});
        case 8:
            return body(uint64_t{});
        case 32:
            return body(plan::Decimal{});
        default:
            return body(Wide{});
    }
}

template <typename Body>
void by_code_width(const Vector& vector, Body body) {
    if (vector.code_width == 1)
        body(vector.as<uint8_t>());
    else if (vector.code_width == 2)
        body(vector.as<uint16_t>());
    else
        body(vector.as<uint32_t>());
}

// Makes room for a bitmap of `rows`, in whole words.
uint8_t* bitmap_room(base::Buffer& buffer, int64_t rows) {
    buffer.resize_discarding(static_cast<uint64_t>(simd::mask_words(rows)) * 8);
    return buffer.data();
}

}  // namespace

Vector flatten(const Vector& vector, RowBuffer& room) {
    if (vector.form != Form::kCodes) return vector;
    const Vector& entries = vector.dictionary->values;
    Vector out = vector;
    out.form = Form::kPlain;
    out.code_width = 0;
    out.dictionary = nullptr;
    const int width = plan::width(plan::physical(vector.type));
    room.values.resize_discarding(static_cast<uint64_t>(vector.length) * width);
    out.values = room.values.data();
    if (entries.length == 0) {
        // Then all rows are NULL.
        std::memset(room.values.data(), 0, static_cast<size_t>(vector.length) * width);
        return out;
    }
    by_width(width, [&](auto sample) {
        using T = decltype(sample);
        by_code_width(vector, [&](const auto* codes) {
            const T* __restrict from = entries.as<T>();
            T* __restrict to = room.values.as<T>();
            for (int64_t i = 0; i < vector.length; ++i) to[i] = from[codes[i]];
        });
    });
    if (entries.validity != nullptr) {
        uint8_t* bits = bitmap_room(room.validity, vector.length);
        auto* mask = reinterpret_cast<uint64_t*>(bits);
        by_code_width(vector, [&](const auto* codes) {
            for (int64_t i = 0; i < vector.length; i += 64) {
                const int64_t end = vector.length - i < 64 ? vector.length - i : 64;
                uint64_t word = 0;
                for (int64_t j = 0; j < end; ++j)
                    word |= static_cast<uint64_t>(base::bit_at(entries.validity, codes[i + j]))
                            << j;
                uint64_t own = ~uint64_t{0};
                if (vector.validity != nullptr) std::memcpy(&own, vector.validity + i / 8, 8);
                mask[i >> 6] = word & own;
            }
        });
        out.validity = bits;
    }
    return out;
}

Vector spread(const Vector& vector, RowBuffer& room) {
    if (vector.form != Form::kConstant) return flatten(vector, room);
    Vector out = vector;
    out.form = Form::kPlain;
    const int width = plan::width(plan::physical(vector.type));
    room.values.resize_discarding(static_cast<uint64_t>(vector.length) * width);
    out.values = room.values.data();
    by_width(width, [&](auto sample) {
        using T = decltype(sample);
        const T value = vector.as<T>()[0];
        T* to = room.values.as<T>();
        for (int64_t i = 0; i < vector.length; ++i) to[i] = value;
    });
    if (vector.is_null(0)) {
        uint8_t* bits = bitmap_room(room.validity, vector.length);
        std::memset(bits, 0, room.validity.size());
        out.validity = bits;
    } else {
        out.validity = nullptr;
    }
    return out;
}

Vector gather(const Vector& vector, const uint16_t* selection, int64_t rows, RowBuffer& room) {
    Vector out = vector;
    out.length = rows;
    if (vector.form == Form::kConstant) return out;
    const int width =
        vector.form == Form::kCodes ? vector.code_width : plan::width(plan::physical(vector.type));
    room.values.resize_discarding(static_cast<uint64_t>(rows) * width);
    out.values = room.values.data();
    by_width(width, [&](auto sample) {
        using T = decltype(sample);
        const T* __restrict from = vector.as<T>();
        T* __restrict to = room.values.as<T>();
        for (int64_t i = 0; i < rows; ++i) to[i] = from[selection[i]];
    });
    if (vector.validity != nullptr) {
        uint8_t* bits = bitmap_room(room.validity, rows);
        auto* mask = reinterpret_cast<uint64_t*>(bits);
        for (int64_t i = 0; i < rows; i += 64) {
            const int64_t end = rows - i < 64 ? rows - i : 64;
            uint64_t word = 0;
            for (int64_t j = 0; j < end; ++j)
                word |= static_cast<uint64_t>(base::bit_at(vector.validity, selection[i + j])) << j;
            mask[i >> 6] = word;
        }
        out.validity = bits;
    }
    return out;
}

void blend(const Vector& from, const uint64_t* mask, int64_t rows, void* to) {
    by_width(plan::width(plan::physical(from.type)), [&](auto sample) {
        using T = decltype(sample);
        const T* source = from.as<T>();
        T* target = static_cast<T*>(to);
        const int64_t step = from.form == Form::kConstant ? 0 : 1;
        for (int64_t w = 0; w < simd::mask_words(rows); ++w) {
            if (mask[w] == ~uint64_t{0}) {
                for (int64_t i = w * 64; i < w * 64 + 64; ++i) target[i] = source[i * step];
                continue;
            }
            // Few rows one by one; many by a choice in every row, which has no branches.
            if (sizeof(T) > 8 || std::popcount(mask[w]) < 16 || (w + 1) * 64 > rows) {
                for (uint64_t left = mask[w]; left != 0; left &= left - 1) {
                    const int64_t i = w * 64 + std::countr_zero(left);
                    target[i] = source[i * step];
                }
                continue;
            }
            if constexpr (sizeof(T) <= 8) {
                const T* from_word = source + w * 64 * step;
                T* to_word = target + w * 64;
                const T first = from_word[0];
                uint8_t chosen[64 + simd::kSelectionSlack];
                simd::mask_to_bools(mask + w, 64, chosen);
                for (int64_t i = 0; i < 64; ++i) {
                    const T value = step == 0 ? first : from_word[i];
                    to_word[i] = chosen[i] != 0 ? value : to_word[i];
                }
            }
        }
    });
}

void scatter(const Vector& from, const uint64_t* mask, int64_t rows, void* to) {
    by_width(plan::width(plan::physical(from.type)), [&](auto sample) {
        using T = decltype(sample);
        const T* source = from.as<T>();
        T* target = static_cast<T*>(to);
        const int64_t step = from.form == Form::kConstant ? 0 : 1;
        int64_t at = 0;
        for (int64_t w = 0; w < simd::mask_words(rows); ++w)
            for (uint64_t left = mask[w]; left != 0; left &= left - 1, at += step)
                target[w * 64 + std::countr_zero(left)] = source[at];
    });
}

void known_rows(const Vector& vector, int64_t rows, uint64_t* mask) {
    const int64_t words = simd::mask_words(rows);
    if (vector.validity == nullptr || vector.form == Form::kConstant) {
        const uint64_t all = vector.is_null(0) ? 0 : ~uint64_t{0};
        for (int64_t w = 0; w < words; ++w) mask[w] = all & row_word(rows, w);
        return;
    }
    std::memcpy(mask, vector.validity, static_cast<size_t>(words) * 8);
    if (words > 0) mask[words - 1] &= row_word(rows, words - 1);
}

}  // namespace loom::exec
