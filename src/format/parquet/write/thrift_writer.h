#pragma once
// Writes Thrift's compact protocol (thrift-compact-protocol.md), as much of it as Parquet uses.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loom::parquet::write {

/// Type codes of list elements and fields.
enum class ThriftType : uint8_t {
    kTrue = 1,
    kFalse = 2,
    kByte = 3,
    kI16 = 4,
    kI32 = 5,
    kI64 = 6,
    kBinary = 8,
    kList = 9,
    kStruct = 12
};

/// Appends one structure to `*out`. Call begin_root() first and end_struct() last; fields come in
/// ascending order of their ids.
class ThriftWriter {
  public:
    explicit ThriftWriter(std::string* out) noexcept : out_(out) {}

    void begin_root() { last_ids_.push_back(0); }
    void begin_struct(int id) {
        header(id, ThriftType::kStruct);
        last_ids_.push_back(0);
    }
    void end_struct() {
        out_->push_back(0);
        last_ids_.pop_back();
    }
    void field_bool(int id, bool value) {
        header(id, value ? ThriftType::kTrue : ThriftType::kFalse);
    }
    void field_byte(int id, int8_t value) {
        header(id, ThriftType::kByte);
        out_->push_back(static_cast<char>(value));
    }
    void field_i16(int id, int16_t value) { integer(id, ThriftType::kI16, value); }
    void field_i32(int id, int32_t value) { integer(id, ThriftType::kI32, value); }
    void field_i64(int id, int64_t value) { integer(id, ThriftType::kI64, value); }
    void field_binary(int id, std::string_view value) {
        header(id, ThriftType::kBinary);
        element_binary(value);
    }
    /// Begins a list; exactly `count` element_x() or begin_element() calls follow.
    void begin_list(int id, ThriftType element, size_t count) {
        header(id, ThriftType::kList);
        if (count < 15) {
            out_->push_back(static_cast<char>(count << 4 | static_cast<uint8_t>(element)));
        } else {
            out_->push_back(static_cast<char>(0xf0 | static_cast<uint8_t>(element)));
            varint(count);
        }
    }
    void list_i64(int id, const std::vector<int64_t>& values) {
        begin_list(id, ThriftType::kI64, values.size());
        for (int64_t value : values) element_integer(value);
    }
    void begin_element() { last_ids_.push_back(0); }
    void element_integer(int64_t value) { varint(zigzag(value)); }
    void element_binary(std::string_view value) {
        varint(value.size());
        out_->append(value);
    }
    void element_bool(bool value) { out_->push_back(value ? 1 : 2); }

  private:
    static uint64_t zigzag(int64_t value) {
        return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
    }
    void varint(uint64_t value) {
        for (; value >= 128; value >>= 7) out_->push_back(static_cast<char>(value | 128));
        out_->push_back(static_cast<char>(value));
    }
    void header(int id, ThriftType type) {
        const int delta = id - last_ids_.back();
        if (delta > 0 && delta <= 15) {
            out_->push_back(static_cast<char>(delta << 4 | static_cast<uint8_t>(type)));
        } else {
            out_->push_back(static_cast<char>(type));
            varint(zigzag(id));
        }
        last_ids_.back() = static_cast<int16_t>(id);
    }
    void integer(int id, ThriftType type, int64_t value) {
        header(id, type);
        element_integer(value);
    }

    std::string* out_;
    std::vector<int16_t> last_ids_;
};

}  // namespace loom::parquet::write
