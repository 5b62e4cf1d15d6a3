#include "format/parquet/schema/schema_tree.h"

namespace loom::parquet {

using column::Annotation;
using column::Field;
using column::TypeId;

namespace {

// Walks the flattened schema in order. Each convert_* takes the element at next_ and everything
// below.
class Builder {
  public:
    explicit Builder(const std::vector<SchemaElement>& elements) : elements_(elements) {}

    SchemaTree build() {
        if (elements_.empty()) base::corrupt("the schema is empty");
        const int32_t count = child_count(take());
        for (int32_t i = 0; i < count; ++i) {
            const size_t at = next_;
            Node node = convert_field({0, 0, 1});
            tree_.schema.fields.push_back(field_of(elements_[at].name, node));
            tree_.columns.push_back(std::move(node));
        }
        if (next_ != elements_.size())
            base::corrupt("the schema has {} elements behind its last column",
                          elements_.size() - next_);
        return std::move(tree_);
    }

  private:
    // Where an element stands: levels of the value that holds it, and how deep it lies.
    struct Place {
        int definition;
        int repetition;
        int depth;
    };

    const SchemaElement& peek() const {
        if (next_ >= elements_.size()) base::corrupt("the schema lacks an element");
        return elements_[next_];
    }
    const SchemaElement& take() {
        const SchemaElement& element = peek();
        ++next_;
        return element;
    }
    int32_t child_count(const SchemaElement& element) const {
        const int32_t count = element.child_count;
        if (count < 0 || static_cast<size_t>(count) > elements_.size() - next_)
            base::corrupt("group \"{}\" has {} members, more than the schema", element.name, count);
        return count;
    }
    static bool is_group(const SchemaElement& element) noexcept {
        return !element.physical || element.child_count > 0;
    }
    static Field field_of(const std::string& name, const Node& node) {
        Field field;
        field.name = name;
        field.type = node.type;
        field.nullable = node.nullable;
        return field;
    }
    static uint8_t level(int value) {
        if (value > 255) base::raise(base::ErrorKind::kLimit, "the schema is nested too deep");
        return static_cast<uint8_t>(value);
    }

    // An element with its repetition: a repeated one that no list or map announces is a list
    // itself.
    Node convert_field(Place place) {
        const SchemaElement& element = peek();
        switch (element.repetition) {
            case Repetition::kRequired:
                return convert_value(place, false);
            case Repetition::kOptional:
                ++place.definition;
                return convert_value(place, true);
            case Repetition::kRepeated:
                break;
        }
        const size_t at = next_;
        Node item = convert_value({place.definition + 1, place.repetition + 1, place.depth}, false);
        return make_list(place, false, elements_[at].name, std::move(item));
    }

    // An element without its repetition; `place` already counts it.
    Node convert_value(Place place, bool nullable) {
        if (place.depth > kMaxSchemaDepth)
            base::raise(base::ErrorKind::kLimit, "the schema is nested deeper than {} levels",
                        kMaxSchemaDepth);
        const SchemaElement& element = take();
        path_.push_back(element.name);
        Node node;
        if (!is_group(element))
            node = convert_leaf(element, place);
        else
            node = convert_group(element, place);
        path_.pop_back();
        node.nullable = nullable;
        node.defined_level = level(place.definition);
        return node;
    }

    Node convert_leaf(const SchemaElement& element, Place place) {
        Node node;
        node.leaf = node.first_leaf = static_cast<int>(tree_.leaves.size());
        node.repetition_level = level(place.repetition);
        Leaf& leaf = tree_.leaves.emplace_back();
        leaf.type = make_leaf_type(element);
        leaf.type_text = describe_type(element);
        leaf.max_definition = level(place.definition);
        leaf.max_repetition = level(place.repetition);
        for (const std::string& part : path_) {
            if (!leaf.path.empty()) leaf.path += '.';
            leaf.path += part;
        }
        node.type = leaf.type.type;
        return node;
    }

    Node convert_group(const SchemaElement& element, Place place) {
        const int32_t count = child_count(element);
        const LogicalKind kind = effective_logical_type(element).kind;
        if (count == 1 && peek().repetition == Repetition::kRepeated) {
            if (kind == LogicalKind::kList) return convert_list(element, place);
            if (kind == LogicalKind::kMap && is_group(peek()) && peek().child_count >= 1 &&
                peek().child_count <= 2)
                return convert_map(place);
        }
        Node node = convert_struct(count, place);
        const bool variant = kind == LogicalKind::kVariant && has_metadata(*node.type);
        return variant ? make_variant(place, std::move(node)) : node;
    }

    // Whether a group can be a variant; to others the annotation does not apply.
    static bool has_metadata(const column::DataType& group) noexcept {
        for (const Field& member : group.children)
            if (member.name == "metadata" && column::is_bytes(member.type->id)) return true;
        return false;
    }

    // A variant is a text to those who read it; its group stays below.
    static Node make_variant(Place place, Node group) {
        group.defined_level = level(place.definition);
        Node node;
        node.kind = Node::Kind::kVariant;
        node.repetition_level = group.repetition_level;
        node.type =
            column::with_annotation(*column::make_type(TypeId::kUtf8), Annotation::kVariant);
        add_child(node, std::move(group));
        return node;
    }

    Node convert_struct(int32_t count, Place place) {
        Node node;
        node.kind = Node::Kind::kStruct;
        node.repetition_level = level(place.repetition);
        std::vector<Field> members;
        for (int32_t i = 0; i < count; ++i) {
            const size_t at = next_;
            Node child = convert_field({place.definition, place.repetition, place.depth + 1});
            members.push_back(field_of(elements_[at].name, child));
            add_child(node, std::move(child));
        }
        node.type = column::make_struct(std::move(members));
        return node;
    }

    static void add_child(Node& node, Node child) {
        if (node.first_leaf < 0) node.first_leaf = child.first_leaf;
        node.children.push_back(std::move(child));
    }

    static Node make_list(Place place, bool nullable, const std::string& name, Node item) {
        Node node;
        node.kind = Node::Kind::kList;
        node.nullable = nullable;
        node.defined_level = level(place.definition);
        node.element_level = level(place.definition + 1);
        node.repetition_level = level(place.repetition + 1);
        node.type = column::make_list(field_of(name, item));
        add_child(node, std::move(item));
        return node;
    }

    // Whether the repeated child of a LIST group is the element itself (the older two-level
    // layout).
    bool repeated_is_element(const SchemaElement& list, const SchemaElement& repeated) const {
        if (!is_group(repeated) || repeated.child_count != 1) return true;
        const size_t only = next_ + 1;
        if (only < elements_.size() && elements_[only].repetition == Repetition::kRepeated)
            return true;
        return repeated.name == "array" || repeated.name == list.name + "_tuple";
    }

    Node convert_list(const SchemaElement& list, Place place) {
        const SchemaElement& repeated = peek();
        const Place inner{place.definition + 1, place.repetition + 1, place.depth + 1};
        if (repeated_is_element(list, repeated)) {
            Node item = convert_value(inner, false);
            return make_list(place, false, repeated.name, std::move(item));
        }
        take();
        path_.push_back(repeated.name);
        const std::string& name = peek().name;
        Node item = convert_field({inner.definition, inner.repetition, inner.depth + 1});
        path_.pop_back();
        return make_list(place, false, name, std::move(item));
    }

    Node convert_map(Place place) {
        const SchemaElement& repeated = take();
        path_.push_back(repeated.name);
        Place inner{place.definition + 1, place.repetition + 1, place.depth + 1};
        Node entry = convert_struct(repeated.child_count, inner);
        path_.pop_back();
        entry.defined_level = level(inner.definition);
        std::vector<Field> members = entry.type->children;
        if (members.size() == 1) {  // a map without values is a set of keys
            Node absent;
            absent.nullable = true;
            absent.defined_level = level(inner.definition);
            absent.repetition_level = level(inner.repetition);
            absent.type = column::make_type(TypeId::kNull);
            members.push_back(field_of("value", absent));
            add_child(entry, std::move(absent));
        }
        Node node;
        node.kind = Node::Kind::kMap;
        node.element_level = level(inner.definition);
        node.repetition_level = level(inner.repetition);
        node.type = column::make_map(members[0], members[1]);
        entry.type = node.type->children[0].type;
        add_child(node, std::move(entry));
        return node;
    }

    const std::vector<SchemaElement>& elements_;
    size_t next_ = 0;
    std::vector<std::string> path_;
    SchemaTree tree_;
};

}  // namespace

SchemaTree build_schema(const std::vector<SchemaElement>& elements) {
    return Builder(elements).build();
}

}  // namespace loom::parquet
