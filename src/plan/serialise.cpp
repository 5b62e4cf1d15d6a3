#include "plan/serialise.h"

#include <type_traits>

namespace loom::plan {

namespace {

constexpr uint8_t kVersion = 1;
constexpr const char* kWhat = "serialised plan";

// The largest value of each enumeration; what lies beyond is not a plan.
constexpr int last(TypeId) {
    return static_cast<int>(TypeId::kOpaqueWord);
}
constexpr int last(ExprKind) {
    return static_cast<int>(ExprKind::kHost);
}
constexpr int last(OperatorKind) {
    return static_cast<int>(OperatorKind::kWindow);
}
constexpr int last(JoinType) {
    return static_cast<int>(JoinType::kMark);
}
constexpr int last(Layout::Kind) {
    return static_cast<int>(Layout::Kind::kComposite);
}
constexpr int last(FrameMode) {
    return static_cast<int>(FrameMode::kGroups);
}
constexpr int last(FrameBound) {
    return static_cast<int>(FrameBound::kFollowing);
}
constexpr int last(column::Scalar::Kind) {
    return static_cast<int>(column::Scalar::Kind::kBytes);
}

// Reader and writer walk the same lists of fields (visit() below), so that they cannot differ.
class Writer {
  public:
    template <typename T>
    void operator()(const T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            put(static_cast<uint8_t>(value));
        } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                             std::is_same_v<T, column::Int128>) {
            put(value);
        } else {
            visit(*this, const_cast<T&>(value));
        }
    }
    void operator()(const std::string& text) {
        put(static_cast<uint32_t>(text.size()));
        out_ += text;
    }
    template <typename T>
    void operator()(const std::vector<T>& list) {
        put(static_cast<uint32_t>(list.size()));
        for (const T& item : list) (*this)(item);
    }
    std::string take() { return std::move(out_); }

  private:
    template <typename T>
    void put(T value) {
        out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    std::string out_;
};

class Reader {
  public:
    explicit Reader(base::ByteSpan bytes) : in_(bytes) {}

    template <typename T>
    void operator()(T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            value = in_.read<uint8_t>(kWhat) != 0;
        } else if constexpr (std::is_enum_v<T>) {
            const auto raw = in_.read<std::underlying_type_t<T>>(kWhat);
            if (raw > last(T{})) base::corrupt("{} holds the unknown enumerator {}", kWhat, raw);
            value = static_cast<T>(raw);
        } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, column::Int128>) {
            value = in_.read<T>(kWhat);
        } else {
            if (++depth_ > kMaxPlanDepth) base::corrupt("{} is nested too deeply", kWhat);
            visit(*this, value);
            --depth_;
        }
    }
    void operator()(std::string& text) {
        text = base::as_text(in_.take(in_.read<uint32_t>(kWhat), kWhat));
    }
    template <typename T>
    void operator()(std::vector<T>& list) {
        const auto count = in_.read<uint32_t>(kWhat);
        // Every item takes at least a byte.
        if (count > in_.remaining()) base::corrupt("{} declares {} items", kWhat, count);
        for (uint32_t i = 0; i < count; ++i) (*this)(list.emplace_back());
    }
    bool at_end() const noexcept { return in_.at_end(); }

  private:
    base::ByteReader in_;
    int depth_ = 0;
};

template <typename Archive>
void visit(Archive& archive, Type& type) {
    archive(type.id);
    archive(type.precision);
    archive(type.scale);
    archive(type.oid);
}

template <typename Archive>
void visit(Archive& archive, column::Scalar& scalar) {
    archive(scalar.kind);
    archive(scalar.integer);
    archive(scalar.number);
    archive(scalar.bytes);
}

template <typename Archive>
void visit(Archive& archive, Expr& expr) {
    archive(expr.kind);
    archive(expr.type);
    archive(expr.index);
    archive(expr.function);
    archive(expr.value);
    archive(expr.list);
    archive(expr.list_null);
    archive(expr.args);
}

template <typename Archive>
void visit(Archive& archive, Aggregate& aggregate) {
    archive(aggregate.function);
    archive(aggregate.type);
    archive(aggregate.args);
    archive(aggregate.filter);
    archive(aggregate.distinct);
}

template <typename Archive>
void visit(Archive& archive, Layout& layout) {
    archive(layout.kind);
    archive(layout.type);
    archive(layout.oid);
    archive(layout.length);
    archive(layout.alignment);
    archive(layout.is_packed);
    archive(layout.is_dropped);
    archive(layout.name);
    archive(layout.header);
    archive(layout.parts);
}

template <typename Archive>
void visit(Archive& archive, WindowCall& call) {
    archive(call.function);
    archive(call.type);
    archive(call.args);
    archive(call.filter);
    archive(call.layout);
}

template <typename Archive>
void visit(Archive& archive, Frame& frame) {
    archive(frame.mode);
    archive(frame.start);
    archive(frame.end);
    archive(frame.start_offset);
    archive(frame.end_offset);
    archive(frame.key);
    archive(frame.start_value);
    archive(frame.end_value);
}

template <typename Archive>
void visit(Archive& archive, SortKey& key) {
    archive(key.column);
    archive(key.descending);
    archive(key.nulls_first);
}

template <typename Archive>
void visit(Archive& archive, Operator& op) {
    archive(op.kind);
    archive(op.inputs);
    archive(op.output);
    archive(op.rows);
    archive(op.source);
    archive(op.name);
    archive(op.columns);
    archive(op.host_columns);
    archive(op.may_raise);
    archive(op.predicates);
    archive(op.expressions);
    archive(op.join);
    archive(op.probe_keys);
    archive(op.build_keys);
    archive(op.null_aware);
    archive(op.single);
    archive(op.group_keys);
    archive(op.grouped);
    archive(op.aggregates);
    archive(op.windows);
    archive(op.frame);
    archive(op.sort_keys);
    archive(op.count);
    archive(op.offset);
}

}  // namespace

std::string serialise(const Operator& root) {
    Writer writer;
    writer(kVersion);
    writer(root);
    return writer.take();
}

Operator deserialise(base::ByteSpan bytes) {
    Reader reader(bytes);
    uint8_t version;
    reader(version);
    if (version != kVersion) base::corrupt("{} of unknown version {}", kWhat, version);
    Operator root;
    reader(root);
    if (!reader.at_end()) base::corrupt("{} is followed by other bytes", kWhat);
    return root;
}

}  // namespace loom::plan
