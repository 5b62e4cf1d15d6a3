#include "exec/regex/syntax.h"

#include <algorithm>
#include <cwctype>

namespace loom::exec::regex {

namespace {

// Groups inside each other; PostgreSQL's own limit is that of its stack.
constexpr int kMaxDepth = 60;
constexpr int kMaxRepeat = 255;

bool is_digit(uint32_t c) {
    return c >= '0' && c <= '9';
}
bool is_alphanumeric(uint32_t c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The code points that the C library takes for blanks, apart from those that all locales do.
CharSet process_blanks() {
    CharSet blanks;
    for (uint32_t c = 0x1C; c <= 0xFFFF; ++c)
        if (c != ' ' && std::iswspace(static_cast<wint_t>(c)) != 0) blanks.add(c, c);
    return blanks;
}

// What a class holds beyond ASCII depends on the locale. Digits are ASCII by the C standard.
void add_beyond_ascii(bool digits_only, Locale locale, CharSet& set) {
    if (locale == Locale::kC || (locale == Locale::kProcess && digits_only)) return;
    set.add_unsure(0x80, kLastCodePoint);
}

void add_blanks(Locale locale, CharSet& set) {
    set.add('\t', '\r');
    set.add(' ', ' ');
    if (locale == Locale::kProcess) return set.add(process_blanks());
    if (locale == Locale::kC) return;
    // ICU has the separators of information among its blanks.
    set.add_unsure(0x1C, 0x1F);
    set.add_unsure(0x80, kLastCodePoint);
}

// Adds a class by its name within [: :]; false for one whose ASCII part is not the same everywhere.
bool add_class(std::string_view name, Case match_case, Locale locale, CharSet& set) {
    const bool both_cases = match_case == Case::kInsensitive;
    if (name == "xdigit") {
        for (const auto& [first, last] : {CodeRange{'0', '9'}, {'a', 'f'}, {'A', 'F'}})
            set.add(first, last);
        return true;
    }
    const bool word = name == "word";
    const bool alphanumeric = name == "alnum" || word;
    const bool letters = name == "alpha" || alphanumeric;
    const bool lower = name == "lower" || letters || (both_cases && name == "upper");
    const bool upper = name == "upper" || letters || (both_cases && name == "lower");
    const bool digits = name == "digit" || alphanumeric;
    if (lower) set.add('a', 'z');
    if (upper) set.add('A', 'Z');
    if (digits) set.add('0', '9');
    if (word) set.add('_', '_');
    if (name == "space") {
        add_blanks(locale, set);
        return true;
    }
    add_beyond_ascii(digits && !letters, locale, set);
    return lower || upper || digits;
}

class Parser {
  public:
    Parser(std::string_view pattern, Case match_case, Locale locale)
        : rest_(pattern), case_(match_case), locale_(locale) {}

    bool parse(Tree& tree) { return alternatives(tree, 0) && rest_.empty(); }

  private:
    bool at(char c) const { return !rest_.empty() && rest_[0] == c; }
    bool at_digit() const { return !rest_.empty() && is_digit(static_cast<uint8_t>(rest_[0])); }
    bool take(char c) {
        if (!at(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool take_character(uint32_t& c);
    bool alternatives(Tree& tree, int depth);
    bool sequence(Tree& tree, int depth);
    bool piece(Tree& tree, int depth);
    bool quantifier(Tree& tree);
    bool bounds(int& least, int& most);
    bool number(int& value);
    bool escape(Tree& tree);
    bool plain_escape(uint32_t letter, uint32_t& c) const;
    bool bracket(CharSet& set);
    bool bracket_part(bool first, CharSet& set);
    bool bracket_class(CharSet& set);
    bool bracket_character(uint32_t& c);
    bool literal(uint32_t c, CharSet& set) const;
    bool add_named(std::string_view name, bool negated, CharSet& set) const;

    std::string_view rest_;
    Case case_;
    Locale locale_;
};

bool Parser::take_character(uint32_t& c) {
    if (rest_.empty()) return false;
    const auto first = static_cast<uint8_t>(rest_[0]);
    const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (rest_.size() < length) return false;
    c = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (size_t i = 1; i < length; ++i) c = c << 6 | (static_cast<uint8_t>(rest_[i]) & 0x3FU);
    rest_.remove_prefix(length);
    return true;
}

bool Parser::alternatives(Tree& tree, int depth) {
    if (depth > kMaxDepth) return false;
    tree.kind = Tree::Kind::kAlternatives;
    do
        if (!sequence(tree.parts.emplace_back(), depth)) return false;
    while (take('|'));
    return true;
}

bool Parser::sequence(Tree& tree, int depth) {
    tree.kind = Tree::Kind::kSequence;
    while (!rest_.empty() && !at('|') && !at(')'))
        if (!piece(tree.parts.emplace_back(), depth)) return false;
    return true;
}

// Anchors in what is repeated are left to PostgreSQL.
bool has_anchor(const Tree& tree) {
    return tree.kind == Tree::Kind::kBegin || tree.kind == Tree::Kind::kEnd ||
           std::any_of(tree.parts.begin(), tree.parts.end(), has_anchor);
}

bool Parser::piece(Tree& tree, int depth) {
    uint32_t c;
    if (!take_character(c)) return false;
    tree.kind = Tree::Kind::kSet;
    switch (c) {
        case '(':
            if (take('?') && !take(':')) return false;
            if (!alternatives(tree, depth + 1) || !take(')')) return false;
            break;
        case '[':
            if (!bracket(tree.set)) return false;
            break;
        case '.':
            tree.set.add(0, kLastCodePoint);
            break;
        case '^':
            tree.kind = Tree::Kind::kBegin;
            break;
        case '$':
            tree.kind = Tree::Kind::kEnd;
            break;
        case '\\':
            if (!escape(tree)) return false;
            break;
        case '*':
        case '+':
        case '?':
            return false;
        case '{':
            if (at_digit() || !literal(c, tree.set)) return false;
            break;
        default:
            if (!literal(c, tree.set)) return false;
    }
    return quantifier(tree);
}

bool Parser::quantifier(Tree& tree) {
    int least = 0;
    int most = -1;
    const bool open = rest_.size() > 1 && at('{') && is_digit(static_cast<uint8_t>(rest_[1]));
    if (take('+'))
        least = 1;
    else if (take('?'))
        most = 1;
    else if (open ? !bounds(least, most) : !take('*'))
        return !open;
    if (has_anchor(tree)) return false;
    take('?');  // as short as may be: the same texts match
    if (at('*') || at('+') || at('?') || at('{')) return false;
    Tree repeated;
    repeated.kind = Tree::Kind::kRepeat;
    repeated.least = least;
    repeated.most = most;
    repeated.parts.push_back(std::move(tree));
    tree = std::move(repeated);
    return true;
}

bool Parser::bounds(int& least, int& most) {
    take('{');
    if (!number(least)) return false;
    if (!take(','))
        most = least;
    else if (at_digit() && !number(most))
        return false;
    return take('}') && (most < 0 || least <= most);
}

bool Parser::number(int& value) {
    value = 0;
    for (; at_digit(); rest_.remove_prefix(1)) {
        value = value * 10 + (rest_[0] - '0');
        if (value > kMaxRepeat) return false;
    }
    return true;
}

// The escapes that stand for one character. \B is a backslash here.
bool Parser::plain_escape(uint32_t letter, uint32_t& c) const {
    static constexpr std::string_view kLetters = "abBefnrtv";
    static constexpr std::string_view kMeanings = "\a\b\\\x1b\f\n\r\t\v";
    if (!is_alphanumeric(letter)) {
        c = letter;
        return true;
    }
    const size_t place = kLetters.find(static_cast<char>(letter));
    if (place == std::string_view::npos) return false;
    c = static_cast<uint8_t>(kMeanings[place]);
    return true;
}

bool Parser::add_named(std::string_view name, bool negated, CharSet& set) const {
    CharSet named;
    if (!add_class(name, case_, locale_, named)) return false;
    if (negated) named.complement();
    set.add(named);
    return true;
}

bool Parser::escape(Tree& tree) {
    uint32_t letter;
    if (!take_character(letter)) return false;
    switch (letter) {
        case 'A':
            tree.kind = Tree::Kind::kBegin;
            return true;
        case 'Z':
            tree.kind = Tree::Kind::kEnd;
            return true;
        case 'd':
        case 'D':
            return add_named("digit", letter == 'D', tree.set);
        case 's':
        case 'S':
            return add_named("space", letter == 'S', tree.set);
        case 'w':
        case 'W':
            return add_named("word", letter == 'W', tree.set);
        default:
            break;
    }
    uint32_t c;
    return plain_escape(letter, c) && literal(c, tree.set);
}

bool Parser::literal(uint32_t c, CharSet& set) const {
    set.add(c, c);
    if (case_ == Case::kSensitive) return true;
    set.add_other_case();
    return c < 0x80;
}

bool Parser::bracket(CharSet& set) {
    const bool negated = take('^');
    for (bool first = true; first || !at(']'); first = false)
        if (!bracket_part(first, set)) return false;
    take(']');
    if (negated) set.complement();
    return true;
}

bool Parser::bracket_class(CharSet& set) {
    rest_.remove_prefix(2);  // [:
    const size_t end = rest_.find(":]");
    if (end == std::string_view::npos) return false;
    const std::string_view name = rest_.substr(0, end);
    rest_.remove_prefix(end + 2);
    return add_named(name, false, set);
}

// One character, or a range of them, or a class.
bool Parser::bracket_part(bool first, CharSet& set) {
    if (rest_.size() < 2) return false;
    if (rest_[0] == '[') {
        if (rest_[1] == ':') return bracket_class(set);
        if (rest_[1] == '.' || rest_[1] == '=') return false;
    }
    if (rest_[0] == '\\') {
        const char letter = rest_[1];
        if (letter == 'd' || letter == 's' || letter == 'w') {
            rest_.remove_prefix(2);
            return !at('-') && add_named(letter == 'd'   ? "digit"
                                         : letter == 's' ? "space"
                                                         : "word",
                                         false, set);
        }
    }
    // A hyphen is itself at either end only.
    if (rest_[0] == '-' && !first && rest_[1] != ']') return false;
    uint32_t low;
    if (!bracket_character(low)) return false;
    uint32_t high = low;
    if (rest_.size() > 1 && rest_[0] == '-' && rest_[1] != ']') {
        rest_.remove_prefix(1);
        if (at('-') || at('[') || !bracket_character(high) || high < low) return false;
    }
    set.add(low, high);
    if (case_ == Case::kSensitive) return true;
    set.add_other_case();
    return high < 0x80;
}

bool Parser::bracket_character(uint32_t& c) {
    if (!take_character(c)) return false;
    if (c != '\\') return true;
    uint32_t letter;
    return take_character(letter) && plain_escape(letter, c);
}

void normalise(Tree& tree) {
    tree.set.normalise();
    for (Tree& part : tree.parts) normalise(part);
}

}  // namespace

std::optional<Tree> parse(std::string_view pattern, Case match_case, Locale locale) {
    // Directors and embedded options.
    if (pattern.starts_with("***") || pattern.find('\0') != std::string_view::npos)
        return std::nullopt;
    Tree tree;
    if (!Parser(pattern, match_case, locale).parse(tree)) return std::nullopt;
    normalise(tree);
    return tree;
}

}  // namespace loom::exec::regex
