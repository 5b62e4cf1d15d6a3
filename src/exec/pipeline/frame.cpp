#include "exec/pipeline/frame.h"

#include <algorithm>
#include <cstring>

namespace loom::exec {

using Kind = Slot::Kind;

Frame::Frame(const Pipeline& pipeline, base::MemoryBudget* budget)
    : pipeline_(pipeline), budget_(budget), selection_(budget), positions_(budget) {
    const size_t slots = pipeline.slots.size();
    vectors_.resize(slots);
    present_.resize(slots);
    evaluators_.resize(slots);
    for (size_t i = 0; i < slots; ++i)
        own_.push_back({base::Buffer(budget), base::Buffer(budget), false, false});
    for (size_t i = 0; i < pipeline.joins.size(); ++i)
        probes_.push_back(std::make_unique<ProbeScratch>(budget));
    selection_.resize(kBatchRows * sizeof(uint16_t));
    positions_.resize(kBatchRows * sizeof(uint16_t));
}

void Frame::start_scan(ScanCursor* cursor, int64_t row, int64_t count) {
    cursor_ = cursor;
    scan_row_ = row;
    scan_count_ = count;
    whole_ = true;
    length_ = count;
    std::fill(present_.begin(), present_.end(), 0);
}

void Frame::start_rows(const Vector* columns, int64_t count) {
    cursor_ = nullptr;
    length_ = count;
    std::fill(present_.begin(), present_.end(), 0);
    for (size_t i = 0; i < pipeline_.slots.size(); ++i) {
        const Slot& slot = pipeline_.slots[i];
        if (slot.kind != Kind::kStored || slot.index < 0) continue;
        vectors_[i] = columns[slot.index];
        present_[i] = 1;
    }
}

void Frame::start_match(Frame& parent, const uint16_t* positions, const int32_t* rows,
                        int64_t count, int row_slot, int step) {
    cursor_ = nullptr;
    length_ = count;
    std::fill(present_.begin(), present_.end(), 0);
    for (size_t i = 0; i < pipeline_.slots.size(); ++i) {
        const Slot& slot = pipeline_.slots[i];
        if (static_cast<int>(i) == row_slot || slot.last_use < step) continue;
        // What comes from build rows or is computed can still be had later; the rest cannot.
        const bool base = slot.kind == Kind::kScan || slot.kind == Kind::kStored;
        const bool bound =
            slot.kind == Kind::kBuildRow && slot.join < pipeline_.slots[row_slot].join;
        if (!base && !bound && !parent.present_[i]) continue;
        if (slot.kind == Kind::kBuildRow && !bound) continue;
        const Vector& from = parent.fetch(static_cast<int>(i));
        Vector& to = vectors_[i];
        to = from;
        to.length = count;
        present_[i] = 1;
        if (from.form == Form::kConstant) continue;
        const int width = row_width(from);
        own_[i].values.resize_discarding(static_cast<uint64_t>(count) * width);
        gather_values(from.values, width, positions, count, own_[i].values.data());
        to.values = own_[i].values.data();
        if (from.validity == nullptr) continue;
        own_[i].validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
        gather_bits(from.validity, positions, count, own_[i].validity.data());
        to.validity = own_[i].validity.data();
    }
    std::memcpy(write_rows(row_slot), rows, static_cast<size_t>(count) * sizeof(int32_t));
}

int32_t* Frame::write_rows(int slot) {
    own_[slot].values.resize_discarding(static_cast<uint64_t>(length_) * sizeof(int32_t));
    Vector& vector = vectors_[slot];
    vector = Vector{};
    vector.type = plan::make_type(plan::TypeId::kInt4);
    vector.length = length_;
    vector.values = own_[slot].values.data();
    present_[slot] = 1;
    return own_[slot].values.as<int32_t>();
}

void Frame::write_marks(const Join& join, std::span<const Vector> keys, const uint64_t* matched) {
    Own& own = own_[join.mark_slot];
    own.values.resize_discarding(static_cast<uint64_t>(length_));
    uint8_t* marks = own.values.data();
    for (int64_t i = 0; i < length_; ++i)
        marks[i] = static_cast<uint8_t>(matched[i >> 6] >> (i & 63) & 1);
    Vector& vector = vectors_[join.mark_slot];
    vector = Vector{};
    vector.type = plan::make_type(plan::TypeId::kBool);
    vector.length = length_;
    vector.values = marks;
    present_[join.mark_slot] = 1;
    // Nothing matches an empty side, not even NULL.
    if (!join.null_aware || join.build_is_empty) return;
    own.validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(length_)));
    vector.validity = own.validity.data();
    for (int64_t i = 0; i < length_; ++i) {
        bool known = marks[i] != 0 || !join.build_has_null;
        for (const Vector& key : keys) known = known && !is_null_row(key, i);
        base::put_bit(own.validity.data(), i, known);
    }
}

Evaluator& Frame::evaluator(const Expression& expression) {
    for (auto& [known, evaluator] : step_evaluators_)
        if (known == &expression) return *evaluator;
    step_evaluators_.emplace_back(&expression, std::make_unique<Evaluator>(expression, budget_));
    return *step_evaluators_.back().second;
}

void Frame::compute(int slot) {
    const Slot& definition = pipeline_.slots[slot];
    switch (definition.kind) {
        case Kind::kScan:
            vectors_[slot] =
                whole_ ? cursor_->read(definition.index, scan_row_, scan_count_)
                       : cursor_->gather(definition.index, scan_row_, scan_count_,
                                         {selection_.as<uint16_t>(), static_cast<size_t>(length_)});
            break;
        case Kind::kStored:
            break;  // present from the start
        case Kind::kBuildRow: {
            const Join& join = pipeline_.joins[definition.join];
            std::vector<Vector>& keys = probes_[definition.join]->keys;
            keys.clear();
            for (const int key : join.keys) keys.push_back(fetch(key));
            join.table->lookup(keys, length_, write_rows(slot), *probes_[definition.join]);
            break;
        }
        case Kind::kBuildColumn: {
            const auto* rows = fetch(definition.row_slot).as<int32_t>();
            const RowStore& build = pipeline_.joins[definition.join].table->rows();
            vectors_[slot] = build.column(static_cast<size_t>(definition.index))
                                 .gather(rows, length_, own_[slot].values, own_[slot].validity);
            break;
        }
        case Kind::kMark: {
            const Join& join = pipeline_.joins[definition.join];
            std::vector<Vector>& keys = probes_[definition.join]->keys;
            keys.clear();
            for (const int key : join.keys) keys.push_back(fetch(key));
            uint64_t matched[kMaskWords];
            join.table->test(keys, length_, matched, *probes_[definition.join]);
            write_marks(join, keys, matched);
            break;
        }
        case Kind::kComputed:
            fetch_all(definition.inputs);
            if (evaluators_[slot] == nullptr)
                evaluators_[slot] = std::make_unique<Evaluator>(*definition.expression, budget_);
            vectors_[slot] = evaluators_[slot]->evaluate(vectors_, length_);
            break;
    }
    present_[slot] = 1;
}

const Vector& Frame::fetch(int slot) {
    if (!present_[slot]) compute(slot);
    return vectors_[slot];
}

void Frame::keep_rows(int slot, const uint16_t* positions, int64_t kept, bool in_place) {
    Vector& vector = vectors_[slot];
    Own& own = own_[slot];
    if (in_place) vector.length = kept;
    if (vector.form == Form::kConstant) return;
    const bool own_values = vector.values == own.values.data() && own.values.data() != nullptr;
    const bool own_validity = vector.validity == own.validity.data();
    const int width = row_width(vector);
    if (own_values == in_place && !own.taken_values) {
        if (!own_values) own.values.resize_discarding(static_cast<uint64_t>(kept) * width);
        gather_values(vector.values, width, positions, kept, own.values.data());
        vector.values = own.values.data();
        own.taken_values = !in_place;
    }
    if (vector.validity != nullptr && own_validity == in_place && !own.taken_validity) {
        if (!own_validity)
            own.validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(kept)));
        gather_bits(vector.validity, positions, kept, own.validity.data());
        vector.validity = own.validity.data();
        own.taken_validity = !in_place;
    }
    if (in_place) own.taken_values = own.taken_validity = false;
}

void Frame::narrow(const uint64_t* mask, int64_t kept, int step) {
    auto* positions = positions_.as<uint16_t>();
    simd::mask_to_selection(mask, length_, positions);
    // A computed slot may borrow the memory of another, so what lies elsewhere is gathered before
    // anything is compacted in place (positions ascend, so that is safe).
    for (const bool in_place : {false, true}) {
        for (size_t i = 0; i < vectors_.size(); ++i) {
            if (!present_[i]) continue;
            if (pipeline_.slots[i].last_use <= step) {
                present_[i] = 0;
                continue;
            }
            keep_rows(static_cast<int>(i), positions, kept, in_place);
        }
    }
    if (cursor_ != nullptr) {
        if (whole_)
            std::memcpy(selection_.data(), positions, static_cast<size_t>(kept) * sizeof(uint16_t));
        else
            gather_values(selection_.data(), sizeof(uint16_t), positions, kept, selection_.data());
        whole_ = false;
    }
    length_ = kept;
}

void Frame::truncate(int64_t begin, int64_t count, int step) {
    uint64_t mask[kMaskWords] = {};
    base::fill_bits(reinterpret_cast<uint8_t*>(mask), begin, count, true);
    narrow(mask, count, step);
}

}  // namespace loom::exec
