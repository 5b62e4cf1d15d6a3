#include "exec/scan/load_nested.h"

#include <algorithm>

#include "exec/fault.h"

namespace loom::exec {

using column::ColumnView;
using column::DataType;
using plan::Layout;

namespace {

bool is_list(const DataType& file) {
    return file.id == column::TypeId::kList || file.id == column::TypeId::kFixedList ||
           file.id == column::TypeId::kMap;
}

// A numeric without a modifier has the scale of the file's decimals.
plan::Type value_type(const DataType& file, const Layout& layout) {
    if (!plan::is_decimal(layout.type) || file.id != column::TypeId::kDecimal) return layout.type;
    if (file.precision < 1 || file.precision > plan::kMaxPrecision || file.scale < 0 ||
        file.scale > file.precision)
        return layout.type;
    return plan::make_numeric(file.precision, file.scale);
}

// The file's child for each attribute: by name, or by position if no name is the same; -1 for what
// the file lacks. Nothing if they do not belong together.
std::optional<std::vector<int>> match_children(const DataType& file, const Layout& layout) {
    std::vector<int> children;
    bool any = false;
    for (const Layout& part : layout.parts) {
        children.push_back(part.is_dropped ? -1 : column::find_child(file, part.name));
        any = any || children.back() >= 0;
    }
    if (any || layout.parts.empty()) return children;
    if (file.children.size() != layout.parts.size() ||
        std::ranges::any_of(layout.parts, &Layout::is_dropped))
        return std::nullopt;
    for (size_t i = 0; i < children.size(); ++i) children[i] = static_cast<int>(i);
    return children;
}

int64_t list_start(const ColumnView& view, int64_t row) {
    return view.type->id == column::TypeId::kFixedList ? row * view.type->list_size
                                                       : view.offsets[row];
}

// Rows [begin, begin + count) of values that are not nested; `begin` is a multiple of 8.
ColumnView slice(const ColumnView& view, int64_t begin, int64_t count) {
    ColumnView part = view;
    part.length = count;
    part.null_count = view.null_count == 0 ? 0 : -1;
    if (view.validity != nullptr) part.validity = view.validity + begin / 8;
    const auto bytes = [&](int64_t width) { part.values = view.as<uint8_t>() + begin * width; };
    if (view.encoding == column::Encoding::kDictionary)
        bytes(view.code_width);
    else if (view.type->id == column::TypeId::kBool)
        part.values = view.as<uint8_t>() + begin / 8;
    else
        bytes(column::is_bytes(view.type->id) ? static_cast<int64_t>(sizeof(column::BytesView))
                                              : column::byte_width(*view.type));
    return part;
}

}  // namespace

bool can_load(const DataType& file, const Layout& layout) {
    switch (layout.kind) {
        case Layout::Kind::kValue:
            return can_load(file, value_type(file, layout));
        case Layout::Kind::kArray:
            return is_list(file) && can_load(*file.children[0].type, layout.parts[0]);
        case Layout::Kind::kComposite: {
            if (file.id != column::TypeId::kStruct) return false;
            const auto children = match_children(file, layout);
            if (!children) return false;
            for (size_t i = 0; i < children->size(); ++i) {
                const int child = (*children)[i];
                if (child >= 0 &&
                    !can_load(*file.children[static_cast<size_t>(child)].type, layout.parts[i]))
                    return false;
            }
            return true;
        }
    }
    return false;
}

NestedLoader::NestedLoader(const DataType& file, const Layout& layout, base::MemoryBudget* budget)
    : writer_(budget), views_(budget) {
    if (!can_load(file, layout))
        throw Unrepresentable("a nested column is not read as this type by the engine");
    root_ = make_part(file, layout, budget);
}

NestedLoader::Part NestedLoader::make_part(const DataType& file, const Layout& layout,
                                           base::MemoryBudget* budget) {
    Part part;
    part.layout = &layout;
    switch (layout.kind) {
        case Layout::Kind::kValue:
            part.loader = std::make_unique<Loader>(file, value_type(file, layout), budget);
            break;
        case Layout::Kind::kArray:
            part.parts.push_back(make_part(*file.children[0].type, layout.parts[0], budget));
            break;
        case Layout::Kind::kComposite:
            part.children = *match_children(file, layout);
            part.present.resize(layout.parts.size());
            for (size_t i = 0; i < part.children.size(); ++i) {
                const int child = part.children[i];
                part.parts.push_back(
                    child < 0 ? Part()
                              : make_part(*file.children[static_cast<size_t>(child)].type,
                                          layout.parts[i], budget));
            }
            break;
    }
    return part;
}

bool NestedLoader::Part::is_null(int64_t row) const noexcept {
    if (loader == nullptr) return view.is_null(row);
    if (values.is_null(row - first)) return true;
    return values.form == Form::kCodes &&
           values.dictionary->values.is_null(values.code(row - first));
}

// Makes ready rows [begin, begin + count) of `view`.
void NestedLoader::enter(Part& part, const ColumnView& view, int64_t begin, int64_t count) {
    part.view = view;
    switch (part.layout->kind) {
        case Layout::Kind::kValue: {
            if (view.encoding == column::Encoding::kRuns)
                part.view = column::to_plain(view, part.decoded);
            part.first = begin / 8 * 8;
            part.values =
                part.loader->load(slice(part.view, part.first, count + begin - part.first));
            break;
        }
        case Layout::Kind::kArray: {
            if (view.encoding != column::Encoding::kPlain)
                throw Unrepresentable("a dictionary of lists");
            const int64_t start = list_start(view, begin);
            enter(part.parts[0], view.children[0], start, list_start(view, begin + count) - start);
            break;
        }
        case Layout::Kind::kComposite:
            if (view.encoding != column::Encoding::kPlain)
                throw Unrepresentable("a dictionary of structs");
            for (size_t i = 0; i < part.children.size(); ++i)
                if (part.children[i] >= 0)
                    enter(part.parts[i], view.children[part.children[i]], begin, count);
            break;
    }
}

void NestedLoader::write(Part& part, int64_t row) {
    switch (part.layout->kind) {
        case Layout::Kind::kValue:
            return writer_.put(*part.layout, part.values, row - part.first);
        case Layout::Kind::kArray:
            return write_array(part, row);
        case Layout::Kind::kComposite:
            return write_composite(part, row);
    }
}

void NestedLoader::write_array(Part& part, int64_t row) {
    Part& element = part.parts[0];
    const int64_t begin = list_start(part.view, row);
    const int64_t end = list_start(part.view, row + 1);
    bool nulls = false;
    for (int64_t i = begin; i < end && !nulls; ++i) nulls = element.is_null(i);
    ValueWriter::Array array(writer_, *element.layout, end - begin, nulls);
    for (int64_t i = begin; i < end; ++i) {
        if (nulls && element.is_null(i))
            array.put_null();
        else
            array.put([&] { write(element, i); });
    }
    array.finish();
}

void NestedLoader::write_composite(Part& part, int64_t row) {
    for (size_t i = 0; i < part.parts.size(); ++i)
        part.present[i] = part.children[i] >= 0 && !part.parts[i].is_null(row) ? 1 : 0;
    ValueWriter::Composite composite(writer_, *part.layout, part.present);
    for (size_t i = 0; i < part.parts.size(); ++i)
        if (part.present[i] != 0) composite.put(i, [&] { write(part.parts[i], row); });
    composite.finish();
}

Vector NestedLoader::load(const ColumnView& view) {
    enter(root_, view, 0, view.length);
    writer_.clear();
    views_.resize_discarding(static_cast<uint64_t>(view.length) * sizeof(column::BytesView));
    auto* values = views_.as<column::BytesView>();
    // The bytes move while they grow: places first.
    for (int64_t row = 0; row < view.length; ++row) {
        values[row] = {};
        if (view.is_null(row)) continue;
        const uint64_t start = writer_.start_value();
        values[row].size = static_cast<int64_t>(start) + 1;
        write(root_, row);
    }
    for (int64_t row = 0; row < view.length; ++row)
        if (values[row].size > 0)
            values[row] = writer_.payload(static_cast<uint64_t>(values[row].size - 1));
    Vector vector;
    vector.type = root_.layout->type;
    vector.length = view.length;
    vector.validity = view.validity;
    vector.values = values;
    return vector;
}

}  // namespace loom::exec
