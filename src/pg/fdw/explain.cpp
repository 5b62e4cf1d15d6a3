// What EXPLAIN tells of a scan.

#include "pg/bridge/bridge.h"
#include "pg/fdw/fdw.h"
#include "pg/fdw/property.h"

extern "C" {
#include "utils/ruleutils.h"
}

namespace loom::pg {

namespace {

constexpr size_t kMaxFilesListed = 20;

ScanState* state_of(ForeignScanState* node) {
    return static_cast<ScanState*>(node->fdw_state);
}

// "3 of 5" for people, two properties for programs.
void part_of(ExplainState* es, const char* label, int64_t part, int64_t whole) {
    if (es->format == EXPLAIN_FORMAT_TEXT)
        return property(es, label, fmt::format("{} of {}", part, whole));
    property(es, label, part);
    property(es, fmt::format("{} Total", label).c_str(), whole);
}

std::string deparse(ForeignScanState* node, ExplainState* es, List* ancestors, Node* expr) {
    const char* text = pg_call([&] {
        List* context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, ancestors);
        return deparse_expression(expr, context, list_length(es->rtable) > 1 || es->verbose, false);
    });
    return text;
}

void explain_columns(const FileScan& scan, ExplainState* es) {
    std::string text;
    for (AttrNumber attribute : scan.referenced())
        text += (text.empty() ? "" : ", ") + scan.def().columns[attribute - 1].name;
    property(es, "Columns", text.empty() ? "(none)" : text);
}

void explain_quals(ForeignScanState* node, ExplainState* es, const std::vector<int64_t>& excluded,
                   bool counted) {
    ScanState* state = state_of(node);
    auto* plan = reinterpret_cast<ForeignScan*>(node->ss.ps.plan);
    for (int i = 0; i < list_length(state->plan.quals); ++i) {
        auto* clause = static_cast<Node*>(list_nth(plan->fdw_exprs, state->plan.value_count + i));
        std::string text = deparse(node, es, NIL, clause);
        if (counted) text += fmt::format(" [row groups skipped: {}]", excluded[i]);
        property(es, "Statistics Filter", text);
    }
    for (int i = 0; i < state->plan.virtual_qual_count; ++i) {
        auto* clause = static_cast<Node*>(list_nth(
            plan->fdw_exprs, state->plan.value_count + list_length(state->plan.quals) + i));
        property(es, "File Filter", deparse(node, es, NIL, clause));
    }
}

// The size of a file, or -1 if it is gone since.
int64_t size_of(const std::string& path) {
    try {
        return static_cast<int64_t>(io::stat_local_file(path).size);
    } catch (const base::Error&) {
        return -1;
    }
}

void explain_files(FileScan& scan, ExplainState* es, const std::vector<int64_t>& bytes) {
    size_t listed = 0;
    for (size_t i = 0; i < scan.files().size() && listed < kMaxFilesListed; ++i) {
        if (es->analyze && scan.files().size() > kMaxFilesListed && bytes[i] == 0) continue;
        ++listed;
        const std::string& path = scan.files()[i].path;
        const int64_t size = es->analyze || es->costs ? size_of(path) : 0;
        const std::string size_text = size < 0 ? "gone" : format_bytes(size);
        const std::string label = fmt::format("File {}", i);
        if (es->analyze)
            property(
                es, label.c_str(),
                fmt::format("{} (read: {}, size: {})", path, format_bytes(bytes[i]), size_text));
        else if (es->costs)
            property(es, label.c_str(), fmt::format("{} (size: {})", path, size_text));
        else
            property(es, label.c_str(), path);
    }
}

void explain_column_bytes(const FileScan& scan, ExplainState* es,
                          const std::vector<int64_t>& bytes) {
    for (size_t c = 0; c < scan.referenced().size(); ++c) {
        const std::string& name = scan.def().columns[scan.referenced()[c] - 1].name;
        if (es->format == EXPLAIN_FORMAT_TEXT)
            property(es, fmt::format("Read {}", name).c_str(), format_bytes(bytes[c]));
        else
            property(es, fmt::format("Read {}", name).c_str(), bytes[c]);
    }
}

void explain_analyzed(ForeignScanState* node, ExplainState* es) {
    ScanState* state = state_of(node);
    FileScan& scan = *state->scan;
    ScanCounters counters = scan.counters();
    std::vector<int64_t> column_bytes = scan.column_bytes();
    std::vector<int64_t> file_bytes = scan.file_bytes();
    std::vector<int64_t> excluded = scan.excluded_by();
    collect_worker_counters(state, &counters, &column_bytes, &file_bytes, &excluded);
    explain_quals(node, es, excluded, true);
    part_of(es, "Files", counters.files - counters.files_skipped, counters.files);
    part_of(es, "Row Groups", counters.row_groups_read,
            counters.row_groups_read + counters.row_groups_skipped);
    if (counters.pages_skipped > 0)
        part_of(es, "Pages", counters.pages_read, counters.pages_read + counters.pages_skipped);
    if (es->format == EXPLAIN_FORMAT_TEXT)
        property(es, "Data Read", format_bytes(counters.bytes_read));
    else
        property(es, "Data Read", counters.bytes_read);
    if (es->timing)
        pg_call([&] {
            ExplainPropertyFloat("Decode Time", "ms", static_cast<double>(counters.decode_ns) / 1e6,
                                 3, es);
        });
    explain_column_bytes(scan, es, column_bytes);
    explain_files(scan, es, file_bytes);
}

void explain_planned(ForeignScanState* node, ExplainState* es) {
    FileScan& scan = *state_of(node)->scan;
    scan.restart(evaluate_values(node, true));
    scan.plan_only();
    const ScanCounters& counters = scan.counters();
    explain_quals(node, es, scan.excluded_by(), true);
    part_of(es, "Files", counters.files - counters.files_skipped, counters.files);
    part_of(es, "Row Groups", counters.row_groups - counters.row_groups_skipped,
            counters.row_groups);
    explain_files(scan, es, {});
}

}  // namespace

void explain_scan(ForeignScanState* node, ExplainState* es) {
    pg_entry([=] {
        ScanState* state = state_of(node);
        if (state == nullptr) return;
        if (state->plan.kind == ScanPlan::Kind::kCount) {
            property(es, "Answered From", "file metadata");
            part_of(es, "Files", static_cast<int64_t>(state->scan->files().size()),
                    static_cast<int64_t>(state->scan->files().size()));
            if (es->analyze) property(es, "Data Read", format_bytes(0));
            return explain_files(*state->scan, es,
                                 std::vector<int64_t>(state->scan->files().size()));
        }
        explain_columns(*state->scan, es);
        if (es->analyze && !state->scan->listed())
            explain_quals(node, es, {}, false);  // never executed: there is nothing to count
        else if (es->analyze)
            explain_analyzed(node, es);
        else
            explain_planned(node, es);
    });
}

}  // namespace loom::pg
