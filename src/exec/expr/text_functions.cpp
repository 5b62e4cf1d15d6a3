// Text: LIKE with its pattern compiled, parts of text, text that is made.

#include "sql/text.h"

#include <cstring>
#include <tuple>

#include "exec/expr/like_pattern.h"
#include "exec/expr/loops.h"
#include "sql/like.h"

namespace loom::exec {

namespace {

using plan::Expr;
using plan::TypeId;
using sql::Bytes;
using sql::Fault;

// PostgreSQL's limit of one value.
constexpr int64_t kMaxText = 0x3fffffff - 4;

const Bytes* views(const Vector& vector) {
    return vector.as<Bytes>();
}
int64_t step(const Vector& vector) {
    return vector.form == Form::kConstant ? 0 : 1;
}

// Calls body(row) for each row that is not NULL; results of others are empty.
template <typename R, typename Body>
void for_known(const KernelCall& call, Body body) {
    auto* out = static_cast<R*>(call.out);
    for (int64_t i = 0; i < call.rows; ++i)
        out[i] = call.validity != nullptr && !base::bit_at(call.validity, i) ? R{} : body(i);
}

uint8_t* room_for(const KernelCall& call, int64_t bytes) {
    if (bytes > kMaxText) throw Unrepresentable("a text of more than one gigabyte");
    return call.heap->allocate(bytes);
}

// --- LIKE ---------------------------------------------------------------------------------------

struct LikeState : BoundState {
    LikePattern pattern;
    explicit LikeState(std::string_view text) : pattern(text) {}
};

template <bool kNegated>
void like_compiled(const KernelCall& call) {
    const LikePattern& pattern = static_cast<const LikeState*>(call.state)->pattern;
    const Bytes* text = views(call.args[0]);
    if (pattern.searches()) {
        auto* out = static_cast<bool*>(call.out);
        std::memset(out, kNegated ? 1 : 0, static_cast<size_t>(call.rows));
        return pattern.match_all({text, call.validity, call.rows},
                                 [&](int64_t i) { out[i] = !kNegated; });
    }
    for_known<bool>(call, [&](int64_t i) { return pattern.matches(text[i]) != kNegated; });
}

// A constant pattern is compiled, unless it ends in an escape, which may or may not be an error.
template <bool kNegated>
bool bind_like(std::span<const Expr> args, BoundFunction* bound, std::string*) {
    const Expr& pattern = args[1];
    if (pattern.kind != plan::ExprKind::kConstant || !pattern.value.known()) return true;
    auto state = std::make_shared<LikeState>(pattern.value.bytes);
    if (!state->pattern.valid()) return true;
    bound->kernel = like_compiled<kNegated>;
    bound->may_fault = false;
    bound->state = std::move(state);
    return true;
}

// ILIKE: both sides in lower case, which is exact for ASCII only.
template <bool kNegated>
void like_without_case(const KernelCall& call) {
    const Bytes* text = views(call.args[0]);
    const Bytes* pattern = views(call.args[1]);
    const int64_t step_text = step(call.args[0]);
    const int64_t step_pattern = step(call.args[1]);
    std::vector<uint8_t> lower;
    for_known<bool>(call, [&](int64_t i) {
        const Bytes a = text[i * step_text];
        const Bytes b = pattern[i * step_pattern];
        lower.resize(static_cast<size_t>(a.size + b.size) + 1);
        Fault fault;
        sql::change_case<false>(a, lower.data(), fault);
        sql::change_case<false>(b, lower.data() + a.size, fault);
        const bool matches =
            sql::like({lower.data(), a.size}, {lower.data() + a.size, b.size}, fault);
        if ((fault.bits() & sql::kNotAscii) != 0) {
            fault = {};
            fault.raise(sql::kNotAscii);
        }
        if (fault.bits() != 0) raise(fault);
        return matches != kNegated;
    });
}

// --- text that is made --------------------------------------------------------------------------

void concatenate(const KernelCall& call) {
    const Bytes* a = views(call.args[0]);
    const Bytes* b = views(call.args[1]);
    const int64_t step_a = step(call.args[0]);
    const int64_t step_b = step(call.args[1]);
    for_known<Bytes>(call, [&](int64_t i) {
        const Bytes x = a[i * step_a];
        const Bytes y = b[i * step_b];
        uint8_t* to = room_for(call, x.size + y.size);
        if (x.size > 0) std::memcpy(to, x.data, static_cast<size_t>(x.size));
        if (y.size > 0) std::memcpy(to + x.size, y.data, static_cast<size_t>(y.size));
        return Bytes{to, x.size + y.size};
    });
}

template <bool kUpper>
void change_case(const KernelCall& call) {
    const Bytes* text = views(call.args[0]);
    for_known<Bytes>(call, [&](int64_t i) {
        uint8_t* to = room_for(call, text[i].size);
        Fault fault;
        sql::change_case<kUpper>(text[i], to, fault);
        if (fault.bits() != 0) raise(fault);
        return Bytes{to, text[i].size};
    });
}

// replace_text: every part from left to right; an empty part is never found.
Bytes replace_all(const KernelCall& call, Bytes text, Bytes part, Bytes with) {
    if (part.size == 0 || text.size < part.size) return text;
    int64_t found = 0;
    const auto next = [&](int64_t from) -> int64_t {
        const int64_t at = sql::find_bytes({text.data + from, text.size - from}, part);
        return at < 0 ? -1 : from + at;
    };
    for (int64_t at = next(0); at >= 0; at = next(at + part.size)) ++found;
    if (found == 0) return text;
    const int64_t size = text.size + found * (with.size - part.size);
    uint8_t* to = room_for(call, size);
    const Bytes made{to, size};
    int64_t from = 0;
    const auto append = [&to](const uint8_t* data, int64_t bytes) {
        if (bytes > 0) std::memcpy(to, data, static_cast<size_t>(bytes));
        to += bytes;
    };
    for (int64_t at = next(0); at >= 0; at = next(from)) {
        append(text.data + from, at - from);
        append(with.data, with.size);
        from = at + part.size;
    }
    append(text.data + from, text.size - from);
    return made;
}

void replace(const KernelCall& call) {
    const Vector* args = call.args;
    for_known<Bytes>(call, [&](int64_t i) {
        return replace_all(call, views(args[0])[i * step(args[0])],
                           views(args[1])[i * step(args[1])], views(args[2])[i * step(args[2])]);
    });
}

Function with_kernel(uint32_t oid, const char* name, TypeId result, std::vector<TypeId> types,
                     Kernel kernel, bool may_fault) {
    Function function;
    function.info.oid = oid;
    function.info.name = name;
    function.info.result = result;
    function.info.arguments = static_cast<int>(types.size());
    for (size_t i = 0; i < types.size(); ++i) function.info.types[i] = types[i];
    function.info.may_fault = may_fault;
    function.kernel = kernel;
    return function;
}

}  // namespace

void add_text_functions(std::vector<Function>& out) {
    constexpr TypeId kBool = TypeId::kBool;
    constexpr TypeId kInt4 = TypeId::kInt4;
    constexpr TypeId kText = TypeId::kText;
    constexpr TypeId kBpchar = TypeId::kBpchar;
    constexpr TypeId kBytea = TypeId::kBytea;

    const auto like = [&](uint32_t oid, const char* name, TypeId text, bool negated) {
        Function function =
            with_kernel(oid, name, kBool, {text, kText},
                        negated ? view_kernel<sql::not_like> : view_kernel<sql::like>, true);
        function.bind = negated ? bind_like<true> : bind_like<false>;
        out.push_back(std::move(function));
    };
    like(850, "textlike", kText, false);
    like(1569, "like", kText, false);
    like(1631, "bpcharlike", kBpchar, false);
    like(851, "textnlike", kText, true);
    like(1570, "notlike", kText, true);
    like(1632, "bpcharnlike", kBpchar, true);

    for (const auto& [oid, name, text] :
         {std::tuple{1633U, "texticlike", kText}, {1660U, "bpchariclike", kBpchar}})
        out.push_back(with_kernel(oid, name, kBool, {text, kText}, like_without_case<false>, true));
    for (const auto& [oid, name, text] :
         {std::tuple{1634U, "texticnlike", kText}, {1661U, "bpcharicnlike", kBpchar}})
        out.push_back(with_kernel(oid, name, kBool, {text, kText}, like_without_case<true>, true));

    out.push_back(make_function<sql::text_starts_with>(3696, "starts_with", kBool, kText, kText));
    for (const auto& [oid, name] : {std::pair{1257U, "textlen"},
                                    {1317U, "length"},
                                    {1381U, "char_length"},
                                    {1369U, "character_length"}})
        out.push_back(make_function<sql::text_length>(oid, name, kInt4, kText));
    for (const auto& [oid, name] :
         {std::pair{1318U, "length"}, {1372U, "char_length"}, {1367U, "character_length"}})
        out.push_back(make_function<sql::bpchar_length>(oid, name, kInt4, kBpchar));
    out.push_back(make_function<sql::octet_length>(1374, "octet_length", kInt4, kText));
    out.push_back(make_function<sql::octet_length>(1375, "octet_length", kInt4, kBpchar));
    out.push_back(make_function<sql::octet_length>(720, "octet_length", kInt4, kBytea));
    out.push_back(make_function<sql::octet_length>(2010, "length", kInt4, kBytea));

    for (const auto& [oid, name] : {std::pair{936U, "substring"}, {877U, "substr"}})
        out.push_back(with_kernel(oid, name, kText, {kText, kInt4, kInt4},
                                  view_kernel<sql::text_substring>, true));
    for (const auto& [oid, name] : {std::pair{937U, "substring"}, {883U, "substr"}})
        out.push_back(make_function<sql::text_substring_from>(oid, name, kText, kText, kInt4));
    out.push_back(make_function<sql::text_left>(3060, "left", kText, kText, kInt4));
    out.push_back(make_function<sql::text_right>(3061, "right", kText, kText, kInt4));
    out.push_back(make_function<sql::text_trim>(885, "btrim", kText, kText));
    out.push_back(make_function<sql::text_trim_left>(881, "ltrim", kText, kText));
    out.push_back(make_function<sql::text_trim_right>(882, "rtrim", kText, kText));
    out.push_back(make_function<sql::text_trim_set<true, true>>(884, "btrim", kText, kText, kText));
    out.push_back(
        make_function<sql::text_trim_set<true, false>>(875, "ltrim", kText, kText, kText));
    out.push_back(
        make_function<sql::text_trim_set<false, true>>(876, "rtrim", kText, kText, kText));
    out.push_back(make_function<sql::text_trim_right>(401, "text", kText, kBpchar));
    out.push_back(make_function<sql::text_position>(849, "position", kInt4, kText, kText));
    out.push_back(make_function<sql::text_position>(868, "strpos", kInt4, kText, kText));
    out.push_back(make_function<sql::bool_text>(2971, "text", kText, kBool));

    out.push_back(with_kernel(1258, "textcat", kText, {kText, kText}, concatenate, true));
    out.push_back(with_kernel(871, "upper", kText, {kText}, change_case<true>, true));
    out.push_back(with_kernel(870, "lower", kText, {kText}, change_case<false>, true));
    out.push_back(with_kernel(2087, "replace", kText, {kText, kText, kText}, replace, true));
}

}  // namespace loom::exec
