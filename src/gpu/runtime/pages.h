#pragma once
// Pages of encoded values (Parquet's Encodings.md), on their way to what RawPiece describes: a
// value of fixed width for each row, and a bit that says whether it is there. A warp decodes a
// page.
//
// Whatever a page says, nothing is read outside its bytes, its dictionary and kWordSlack around
// them, and nothing written but its own rows: each length is compared with what is left before it
// is used, each code with the dictionary. A page that is not as its encoding asks for is a fault.

#include "gpu/runtime/decompress.h"
#include "gpu/runtime/raw.h"

namespace loom::gpu {

/// What a page stores of a value.
enum class PageValues : uint32_t {
    kBits,   ///< become bytes of 0 and 1
    kInt32,  ///< with their sign
    kInt64,
    kFixed,  ///< big-endian numbers of up to 16 bytes
    kCodes   ///< what codes stand for is not in the pages: codes stay
};
enum class PageEncoding : uint32_t {
    kPlain,
    kCodes,  ///< the width of codes in a byte, then hybrid runs
    kRuns,   ///< hybrid runs of kBits, their length in 4 bytes before them
    kDelta,  ///< DELTA_BINARY_PACKED, of kInt32 and kInt64
    kSplit   ///< BYTE_STREAM_SPLIT, of all but kBits
};
enum class PageCodec : uint32_t { kSnappy, kLz4 };

/// Bytes to decompress.
struct PageBlock {
    const uint8_t* from = nullptr;
    uint8_t* to = nullptr;
    uint32_t from_bytes = 0;
    uint32_t to_bytes = 0;
    PageCodec codec = PageCodec::kSnappy;
    uint32_t unused = 0;
};

/// A page to decode.
struct EncodedRows {
    /// Hybrid runs of one bit a row. Null: they are in front of the values, with their length in 4
    /// bytes, or there are none.
    const uint8_t* levels = nullptr;
    const uint8_t* body = nullptr;
    const uint8_t* entries = nullptr;  ///< the dictionary's values, plain
    /// Of the piece. Null: values are only looked at, whether they are ones that the piece may
    /// have.
    uint8_t* values = nullptr;
    uint32_t* valid = nullptr;  ///< of the piece, 0 at first. Null: all rows have values
    uint32_t level_bytes = 0;
    uint32_t body_bytes = 0;
    uint32_t entry_count = 0;
    uint32_t first = 0;  ///< row of the piece
    uint32_t rows = 0;
    uint32_t piece = 0;
    PageValues kind = PageValues::kInt32;
    PageEncoding encoding = PageEncoding::kPlain;
    uint32_t width = 0;     ///< bytes of a plain value; 0 for kBits and kCodes
    uint32_t to_width = 0;  ///< of values: 1, 2, 4 or 8, the low bytes of a number
    uint32_t fits = 0;      ///< bytes that a number must fit; 0: any will do
    uint32_t unused = 0;
};

/// Parameters of the kernels `page_blocks` and `page_rows`.
struct PageParameters {
    const PageBlock* blocks = nullptr;
    const EncodedRows* pages = nullptr;
    const RawPiece* pieces = nullptr;
    uint32_t* faults = nullptr;
    uint32_t block_count = 0;
    uint32_t page_count = 0;
};

// --- bits
// ----------------------------------------------------------------------------------------

/// Return 32 or 64 bits from a bit on; those behind the end are any.
LOOM_DEVICE uint32_t load_bits(const uint8_t* from, uint64_t bit) {
    const uint8_t* const at = from + bit / 8;
    const uint32_t shift = static_cast<uint32_t>(reinterpret_cast<uint64_t>(at) & 3) * 8 +
                           static_cast<uint32_t>(bit & 7);
    const uint8_t* const words = word_below(at);
    // The bit lies in the first word.
    return funnel_right(look_up32_if(words, 1, 0), look_up32_if(words + 4, 1, 0), shift);
}
LOOM_DEVICE uint64_t load_bits64(const uint8_t* from, uint64_t bit) {
    return uint64_t{load_bits(from, bit + 32)} << 32 | load_bits(from, bit);
}
LOOM_DEVICE uint32_t low_mask(uint32_t bits) {
    return bits >= 32 ? 0xffffffffU : (1U << bits) - 1;
}

// --- hybrid runs
// ----------------------------------------------------------------------------------------

/// Runs of equal values, and of packed ones. The same in all lanes.
struct HybridRuns {
    const uint8_t* bytes;
    uint32_t at;
    uint32_t end;
    uint32_t width;         ///< bits of a value, 0 to 32
    uint64_t left;          ///< values of the run
    uint64_t position;      ///< in a packed run
    const uint8_t* packed;  ///< null: all are `value`
    uint32_t value;
};

LOOM_DEVICE HybridRuns hybrid_runs(const uint8_t* bytes, uint32_t count, uint32_t width) {
    // Values of no bits are zeros without end.
    return {bytes, 0, count, width, width == 0 ? ~uint64_t{0} : 0, 0, nullptr, 0};
}

/// Goes to the next run that has values, if none are left of this one; false if there is none.
LOOM_DEVICE bool hybrid_next(HybridRuns& runs) {
    while (runs.left == 0) {
        uint64_t header = 0;
        for (uint32_t shift = 0;; shift += 7) {
            if (runs.at >= runs.end) return false;
            const uint32_t byte = load8(runs.bytes + runs.at++);
            header |= uint64_t{byte & 127} << shift;
            if (byte < 128) break;
            if (shift >= 56) return false;
        }
        const uint64_t length = header >> 1;
        const uint32_t bytes = runs.end - runs.at;
        if ((header & 1) != 0) {
            // Groups of eight values; the last ones may be cut short.
            const bool whole = length <= bytes / runs.width;
            runs.packed = runs.bytes + runs.at;
            runs.position = 0;
            runs.left = whole ? length * 8 : uint64_t{bytes} * 8 / runs.width;
            runs.at = whole ? runs.at + static_cast<uint32_t>(length) * runs.width : runs.end;
            if (runs.left == 0 && length != 0) return false;
        } else {
            const uint32_t value_bytes = (runs.width + 7) / 8;
            if (bytes < value_bytes) return false;
            runs.packed = nullptr;
            runs.left = length;
            runs.value = load32(runs.bytes + runs.at) & low_mask(8 * value_bytes);
            runs.at += value_bytes;
        }
    }
    return true;
}
LOOM_DEVICE void hybrid_pass(HybridRuns& runs, uint32_t count) {
    runs.position += count;
    runs.left -= count;
}
LOOM_DEVICE uint32_t hybrid_least(uint64_t left, uint32_t wanted) {
    return left < wanted ? static_cast<uint32_t>(left) : wanted;
}

// --- which rows have values
// ----------------------------------------------------------------------------------------

/// Bits of a word of a bitmap that stand for bits [begin, end) of the bitmap.
LOOM_DEVICE uint32_t word_mask(uint32_t word, uint32_t begin, uint32_t end) {
    const uint32_t first = word * 32;
    const uint32_t low = begin > first ? begin - first : 0;
    const uint32_t high = end - first;
    return low_mask(high) & ~low_mask(low);
}

/// Sets the bits of rows [begin, end), whose levels come next. Returns how many of the lane's have
/// values. Words at the ends are shared with other runs and pages.
LOOM_DEVICE uint32_t put_levels(uint32_t* valid, uint32_t begin, uint32_t end,
                                const HybridRuns& runs, uint32_t lane) {
    uint32_t count = 0;
    LOOM_NO_UNROLL for (uint32_t word = begin / 32 + lane; word * 32 < end; word += kWarp) {
        const uint32_t mask = word_mask(word, begin, end);
        uint32_t bits = (runs.value & 1) != 0 ? mask : 0;
        if (runs.packed != nullptr) {
            const uint32_t skipped = word * 32 < begin ? begin - word * 32 : 0;
            const uint64_t from = runs.position + (word * 32 + skipped - begin);
            bits = load_bits(runs.packed, from) << skipped & mask;
        }
        if (mask == 0xffffffffU)
            valid[word] = bits;
        else if (bits != 0)
            atomic_or(valid + word, bits);
        count += population(bits);
    }
    return count;
}

/// Decodes a page's levels. Returns false for a fault; `count` is how many rows have values.
LOOM_DEVICE bool put_all_levels(const EncodedRows& page, const uint8_t* levels, uint32_t bytes,
                                uint32_t lane, uint32_t& count) {
    HybridRuns runs = hybrid_runs(levels, bytes, 1);
    uint32_t mine = 0;
    uint32_t row = 0;
    while (row < page.rows) {
        if (!hybrid_next(runs)) return false;
        const uint32_t part = hybrid_least(runs.left, page.rows - row);
        const uint32_t begin = page.first + row;
        mine += put_levels(page.valid, begin, begin + part, runs, lane);
        hybrid_pass(runs, part);
        row += part;
    }
    count = warp_sum(mine);
    return true;
}

// --- values
// ----------------------------------------------------------------------------------------

LOOM_DEVICE bool fits_bytes(int64_t value, uint32_t bytes) {
    return bytes == 0 || bytes >= 8 || value == static_cast<int64_t>(static_cast<int32_t>(value));
}

/// A number of `size` bytes, the most significant one `step` bytes before the next. Its low 64
/// bits; `fault` if it does not fit as many bytes as it should.
LOOM_DEVICE int64_t big_endian(const uint8_t* from, uint64_t step, uint32_t size, uint32_t fits,
                               bool& fault) {
    const uint64_t sign = (load8(from) & 128) != 0 ? ~uint64_t{0} : 0;
    uint64_t value = sign;
    bool wide = false;
    LOOM_NO_UNROLL for (uint32_t i = 0; i < size; ++i) {
        wide = wide || (value >> 56 ^ (sign & 255)) != 0;
        value = value << 8 | load8(from + i * step);
    }
    if (fits != 0 && fits <= 8)
        fault = fault || wide || (value >> 63 != (sign & 1)) ||
                !fits_bytes(static_cast<int64_t>(value), fits);
    return static_cast<int64_t>(value);
}

/// Returns a plain value, from among those that were found to be there.
LOOM_DEVICE int64_t plain_value(const EncodedRows& page, const uint8_t* from, uint32_t i,
                                bool& fault) {
    int64_t value = 0;
    switch (page.kind) {
        case PageValues::kBits:
            return load8(from + i / 8) >> i % 8 & 1;
        case PageValues::kInt32:
            value = static_cast<int32_t>(load32(from + uint64_t{i} * 4));
            break;
        case PageValues::kInt64:
            value = static_cast<int64_t>(load64(from + uint64_t{i} * 8));
            break;
        case PageValues::kFixed:
            return big_endian(from + uint64_t{i} * page.width, 1, page.width, page.fits, fault);
        default:
            return 0;
    }
    fault = fault || !fits_bytes(value, page.fits);
    return value;
}

/// Likewise of `count` values whose bytes lie apart.
LOOM_DEVICE int64_t split_value(const EncodedRows& page, uint32_t count, uint32_t i, bool& fault) {
    const uint8_t* const from = page.body + i;
    if (page.kind == PageValues::kFixed)
        return big_endian(from, count, page.width, page.fits, fault);
    uint64_t bits = 0;
    LOOM_NO_UNROLL for (uint32_t k = 0; k < page.width; ++k) bits |=
        uint64_t{load8(from + uint64_t{k} * count)} << 8 * k;
    const int64_t value = page.width == 4 ? static_cast<int32_t>(bits) : static_cast<int64_t>(bits);
    fault = fault || !fits_bytes(value, page.fits);
    return value;
}

/// Puts value i of those that are there, one after the other; those of a page without `values` are
/// looked at only.
LOOM_DEVICE void put_value(const PageParameters& p, const EncodedRows& page, uint32_t i,
                           int64_t value, bool& fault) {
    if (page.values == nullptr) {
        const RawPiece& piece = p.pieces[page.piece];
        int64_t converted = 0;
        if (!raw_converted(piece, value, converted)) fault = true;
        return;
    }
    const uint64_t at = uint64_t{page.first} + i;
    switch (page.to_width) {
        case 1:
            page.values[at] = static_cast<uint8_t>(value);
            return;
        case 2:
            reinterpret_cast<uint16_t*>(page.values)[at] = static_cast<uint16_t>(value);
            return;
        case 4:
            reinterpret_cast<uint32_t*>(page.values)[at] = static_cast<uint32_t>(value);
            return;
        default:
            reinterpret_cast<uint64_t*>(page.values)[at] = static_cast<uint64_t>(value);
    }
}
LOOM_DEVICE uint64_t get_value(const EncodedRows& page, uint32_t i) {
    const uint64_t at = uint64_t{page.first} + i;
    switch (page.to_width) {
        case 1:
            return page.values[at];
        case 2:
            return reinterpret_cast<const uint16_t*>(page.values)[at];
        case 4:
            return reinterpret_cast<const uint32_t*>(page.values)[at];
        default:
            return reinterpret_cast<const uint64_t*>(page.values)[at];
    }
}

/// Values begin + 0 to begin + count as value(i) gives them, several of a lane in flight.
template <typename Value>
LOOM_DEVICE bool put_values(const PageParameters& p, const EncodedRows& page, uint32_t begin,
                            uint32_t count, uint32_t lane, const Value& value) {
    constexpr uint32_t kFlying = 4;
    bool fault = false;
    LOOM_NO_UNROLL for (uint32_t from = lane; from < count; from += kFlying * kWarp) {
        int64_t values[kFlying];
        LOOM_UNROLL for (uint32_t k = 0; k < kFlying; ++k) {
            const uint32_t i = from + k * kWarp;
            values[k] = i < count ? value(i, fault) : 0;
        }
        LOOM_UNROLL for (uint32_t k = 0; k < kFlying; ++k) {
            const uint32_t i = from + k * kWarp;
            if (i < count) put_value(p, page, begin + i, values[k], fault);
        }
    }
    return !any_lane(fault);
}

LOOM_DEVICE bool put_plain(const PageParameters& p, const EncodedRows& page, uint32_t count,
                           uint32_t lane) {
    const uint64_t room = page.kind == PageValues::kBits ? uint64_t{page.body_bytes} * 8
                                                         : page.body_bytes / page.width;
    if (count > room) return false;
    return put_values(p, page, 0, count, lane, [&](uint32_t i, bool& fault) {
        return plain_value(page, page.body, i, fault);
    });
}

LOOM_DEVICE bool put_split(const PageParameters& p, const EncodedRows& page, uint32_t count,
                           uint32_t lane) {
    const uint32_t there = page.body_bytes / page.width;
    if (there * page.width != page.body_bytes || count > there) return false;
    return put_values(p, page, 0, count, lane,
                      [&](uint32_t i, bool& fault) { return split_value(page, there, i, fault); });
}

/// Codes, or bits, of hybrid runs.
LOOM_DEVICE bool put_runs(const PageParameters& p, const EncodedRows& page, HybridRuns runs,
                          uint32_t count, uint32_t lane) {
    const bool bits = page.encoding == PageEncoding::kRuns;
    const auto meaning = [&](uint32_t code, bool& fault) -> int64_t {
        if (bits) return code & 1;
        if (code >= page.entry_count) {
            fault = true;
            return 0;
        }
        return page.kind == PageValues::kCodes ? code
                                               : plain_value(page, page.entries, code, fault);
    };
    bool good = true;
    for (uint32_t done = 0; done < count;) {
        if (!hybrid_next(runs)) return false;
        const uint32_t part = hybrid_least(runs.left, count - done);
        if (runs.packed == nullptr) {
            bool fault = false;
            const int64_t value = meaning(runs.value, fault);
            good = good && !fault;
            good = put_values(p, page, done, part, lane, [&](uint32_t, bool&) { return value; }) &&
                   good;
        } else {
            const uint32_t mask = low_mask(runs.width);
            good = put_values(p, page, done, part, lane,
                              [&](uint32_t i, bool& fault) {
                                  const uint64_t bit = (runs.position + i) * runs.width;
                                  return meaning(load_bits(runs.packed, bit) & mask, fault);
                              }) &&
                   good;
        }
        hybrid_pass(runs, part);
        done += part;
    }
    return good;
}

LOOM_DEVICE bool put_codes(const PageParameters& p, const EncodedRows& page, uint32_t count,
                           uint32_t lane) {
    if (page.body_bytes == 0) return count == 0;
    const uint32_t width = load8(page.body);
    if (width > 32) return false;
    return put_runs(p, page, hybrid_runs(page.body + 1, page.body_bytes - 1, width), count, lane);
}

LOOM_DEVICE bool put_bits(const PageParameters& p, const EncodedRows& page, uint32_t count,
                          uint32_t lane) {
    if (page.body_bytes == 0) return count == 0;
    if (page.body_bytes < 4) return false;
    const uint32_t bytes = load32(page.body);
    if (bytes > page.body_bytes - 4) return false;
    return put_runs(p, page, hybrid_runs(page.body + 4, bytes, 1), count, lane);
}

// --- deltas
// ----------------------------------------------------------------------------------------

/// Reads a number; false if it does not end.
LOOM_DEVICE bool delta_number(const EncodedRows& page, uint32_t& at, uint64_t& number) {
    number = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        if (at >= page.body_bytes) return false;
        const uint32_t byte = load8(page.body + at++);
        number |= uint64_t{byte & 127} << shift;
        if (byte < 128) return true;
    }
    return false;
}
LOOM_DEVICE uint64_t delta_signed(uint64_t number) {
    return number >> 1 ^ (0 - (number & 1));
}
LOOM_DEVICE uint64_t warp_prefix_sum64(uint64_t value, uint32_t lane) {
    LOOM_UNROLL for (uint32_t by = 1; by < kWarp; by *= 2) {
        const uint64_t below = shuffle(value, (lane - by) & (kWarp - 1));
        if (lane >= by) value += below;
    }
    return value;
}

/// One part of a block of deltas, all of one width, in `bytes` bytes from `from` on. `value` is the
/// one before, then the last one.
LOOM_DEVICE bool put_deltas(const PageParameters& p, const EncodedRows& page, const uint8_t* from,
                            uint32_t width, uint64_t least, uint32_t begin, uint32_t count,
                            uint32_t lane, uint64_t& value) {
    const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    bool fault = false;
    for (uint32_t i = 0; i < count; i += kWarp) {
        const bool mine = i + lane < count;
        uint64_t delta = 0;
        if (mine)
            delta = (width == 0 ? 0 : load_bits64(from, uint64_t{i + lane} * width) & mask) + least;
        const uint64_t here = value + warp_prefix_sum64(delta, lane);
        if (mine) {
            // Numbers of 32 bits are counted modulo 2^32.
            const int64_t number = page.kind == PageValues::kInt32 ? static_cast<int32_t>(here)
                                                                   : static_cast<int64_t>(here);
            fault = fault || !fits_bytes(number, page.fits);
            put_value(p, page, begin + i + lane, number, fault);
        }
        value = shuffle(here, kWarp - 1);
    }
    return !any_lane(fault);
}

LOOM_DEVICE bool put_delta(const PageParameters& p, const EncodedRows& page, uint32_t count,
                           uint32_t lane) {
    constexpr uint64_t kMostInPart = 1U << 16;
    if (page.body_bytes == 0) return count == 0;
    uint32_t at = 0;
    uint64_t block = 0;
    uint64_t parts = 0;
    uint64_t total = 0;
    uint64_t number = 0;
    if (!delta_number(page, at, block) || !delta_number(page, at, parts) ||
        !delta_number(page, at, total) || !delta_number(page, at, number))
        return false;
    if (parts == 0 || block == 0 || parts > page.body_bytes || block / parts > kMostInPart ||
        block % parts != 0 || block / parts % 8 != 0 || total > 0x7fffffff || count > total)
        return false;
    if (count == 0) return true;
    uint64_t value = delta_signed(number);
    const uint32_t each = static_cast<uint32_t>(block / parts);
    const uint32_t most = page.kind == PageValues::kInt32 ? 32 : 64;
    uint64_t first = value;
    if (page.kind == PageValues::kInt32)
        first = static_cast<uint64_t>(int64_t{static_cast<int32_t>(value)});
    bool fault = !fits_bytes(static_cast<int64_t>(first), page.fits);
    if (lane == 0) put_value(p, page, 0, static_cast<int64_t>(first), fault);
    bool good = !any_lane(fault);
    uint32_t done = 1;
    while (done < count) {
        if (!delta_number(page, at, number)) return false;
        const uint64_t least = delta_signed(number);
        if (parts > page.body_bytes - at) return false;
        const uint8_t* const widths = page.body + at;
        at += static_cast<uint32_t>(parts);
        for (uint32_t part = 0; part < parts && done < count; ++part) {
            const uint32_t width = load8(widths + part);
            if (width > most) return false;
            // The last part is padded; some writers leave the padding out.
            const uint32_t left = static_cast<uint32_t>(total) - done;
            const uint32_t there = left < each ? left : each;
            const uint32_t whole = each / 8 * width;
            const uint32_t needed = (there * width + 7) / 8;
            const uint32_t bytes = page.body_bytes - at >= whole ? whole : needed;
            if (bytes > page.body_bytes - at) return false;
            const uint32_t taken = there < count - done ? there : count - done;
            good =
                put_deltas(p, page, page.body + at, width, least, done, taken, lane, value) && good;
            at += bytes;
            done += taken;
        }
    }
    return good;
}

// --- a page
// ----------------------------------------------------------------------------------------

/// Moves values to the rows that have them, from the last to the first: a row never lies before its
/// value. Values are `count` at the front.
LOOM_DEVICE void spread_values(const PageParameters& p, const EncodedRows& page, uint32_t count,
                               uint32_t lane) {
    constexpr uint32_t kWords = 4;
    const uint32_t end = page.first + page.rows;
    const uint32_t front = page.first / 32;
    const uint32_t below = (1U << lane) - 1;
    uint32_t left = count;
    for (uint32_t behind = (end - 1) / 32 + 1; behind > front;) {
        // As many values as rows: they are in their places.
        const uint32_t rows_left = (behind * 32 < end ? behind * 32 : end) - page.first;
        if (left == rows_left || left == 0) return;
        uint32_t bits[kWords];
        uint64_t values[kWords];
        LOOM_UNROLL for (uint32_t k = 0; k < kWords; ++k) {
            bits[k] = 0;
            values[k] = 0;
            if (behind - front <= k) continue;
            const uint32_t word = behind - 1 - k;
            bits[k] = page.valid[word] & word_mask(word, page.first, end);
            left -= population(bits[k]);
            if ((bits[k] >> lane & 1) != 0)
                values[k] = get_value(page, left + population(bits[k] & below));
        }
        warp_sync();
        bool fault = false;
        LOOM_UNROLL for (uint32_t k = 0; k < kWords; ++k) if ((bits[k] >> lane & 1) != 0)
            put_value(p, page, (behind - 1 - k) * 32 + lane - page.first,
                      static_cast<int64_t>(values[k]), fault);
        behind = behind - front > kWords ? behind - kWords : front;
        warp_sync();
    }
}

/// Decodes a page. Returns false for a fault.
LOOM_DEVICE bool decode_rows(const PageParameters& p, EncodedRows page, uint32_t lane) {
    uint32_t count = page.rows;
    if (page.valid != nullptr) {
        const uint8_t* levels = page.levels;
        uint32_t level_bytes = page.level_bytes;
        if (levels == nullptr) {
            if (page.body_bytes < 4) return false;
            level_bytes = load32(page.body);
            if (level_bytes > page.body_bytes - 4) return false;
            levels = page.body + 4;
            page.body = levels + level_bytes;
            page.body_bytes -= 4 + level_bytes;
        }
        if (!put_all_levels(page, levels, level_bytes, lane, count)) return false;
    }
    bool good = false;
    switch (page.encoding) {
        case PageEncoding::kPlain:
            good = put_plain(p, page, count, lane);
            break;
        case PageEncoding::kCodes:
            good = put_codes(p, page, count, lane);
            break;
        case PageEncoding::kRuns:
            good = put_bits(p, page, count, lane);
            break;
        case PageEncoding::kDelta:
            good = put_delta(p, page, count, lane);
            break;
        default:
            good = put_split(p, page, count, lane);
    }
    if (!good || count == page.rows) return good;
    warp_sync();
    spread_values(p, page, count, lane);
    return true;
}

LOOM_DEVICE bool decompress_block(const PageBlock& block, uint32_t lane) {
    const PackedBytes bytes{block.from, block.from_bytes, block.to, block.to_bytes};
    return block.codec == PageCodec::kSnappy ? snappy_decompress(bytes, lane)
                                             : lz4_decompress(bytes, lane);
}

}  // namespace loom::gpu
