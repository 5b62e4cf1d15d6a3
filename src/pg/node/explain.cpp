// What EXPLAIN tells of a LoomScan.

#include <sstream>

#include "exec/fault.h"
#include "pg/bridge/bridge.h"
#include "pg/fdw/property.h"
#include "pg/node/execution.h"
#include "pg/node/names.h"

namespace loom::pg {

namespace {

LoomScanState* state_of(CustomScanState* node) {
    return reinterpret_cast<LoomScanState*>(node);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

// One line below the other for people, a list for programs.
void print_lines(ExplainState* es, const char* label, const std::vector<std::string>& lines) {
    if (es->format != EXPLAIN_FORMAT_TEXT) {
        List* list = NIL;
        for (const std::string& line : lines)
            pg_call([&] { list = lappend(list, pstrdup(line.c_str())); });
        pg_call([&] { ExplainPropertyList(label, list, es); });
        return;
    }
    property(es, label, lines.empty() ? "" : lines[0]);
    const int indent = es->indent * 2 + static_cast<int>(strlen(label)) + 2;
    for (size_t i = 1; i < lines.size(); ++i)
        pg_call([&] {
            appendStringInfoSpaces(es->str, indent);
            appendStringInfo(es->str, "%s\n", lines[i].c_str());
        });
}

void print_profile(const Execution& execution, ExplainState* es) {
    const exec::Profile profile = execution.profile();
    int64_t bytes_read = 0;
    for (const exec::ScanProfile& scan : profile.scans) bytes_read += scan.bytes_read;
    if (es->format == EXPLAIN_FORMAT_TEXT)
        property(es, "Data Read", format_bytes(bytes_read));
    else
        property(es, "Data Read", bytes_read);
    for (const exec::ScanProfile& scan : profile.scans) {
        std::string text = fmt::format("row groups: {} of {}",
                                       scan.row_groups - scan.row_groups_skipped, scan.row_groups);
        text += fmt::format(", rows: {}, read: {}", scan.rows, format_bytes(scan.bytes_read));
        property(es, fmt::format("Scan {}", scan.name).c_str(), text);
    }
    if (!es->timing) return;
    pg_call([&] { ExplainPropertyInteger("Threads", nullptr, execution.threads(), es); });
    for (const exec::PipelineProfile& pipeline : profile.pipelines)
        property(es, fmt::format("Pipeline {}", pipeline.name).c_str(),
                 fmt::format("rows: {} to {}, time: {:.3f} ms", pipeline.rows_in, pipeline.rows_out,
                             pipeline.milliseconds));
    if (profile.peak_memory > 0)
        property(es, "Peak Memory", format_bytes(static_cast<int64_t>(profile.peak_memory)));
    if (!profile.longest_in.empty())
        property(es, "Longest Stretch",
                 fmt::format("{:.1f} ms, in {}", profile.longest_stretch, profile.longest_in));
    if (profile.temp_bytes > 0)
        property(es, "Temporary Files",
                 fmt::format("{}, {}", profile.temp_files,
                             format_bytes(static_cast<int64_t>(profile.temp_bytes))));
}

// What devices would do, if nothing keeps the engine from asking them.
std::vector<std::string> ask(Execution& execution) {
    try {
        return execution.ask_devices();
    } catch (const exec::SqlFault&) {
    } catch (const exec::Unrepresentable&) {
    } catch (const base::Error& error) {
        if (error.kind() == base::ErrorKind::kCancelled) throw;
    }
    return {};
}

}  // namespace

void explain_loom_scan(CustomScanState* node, List*, ExplainState* es) {
    pg_entry([=] {
        LoomScanState* state = state_of(node);
        const StoredPlan stored = read_stored_plan(reinterpret_cast<CustomScan*>(node->ss.ps.plan));
        print_lines(es, "Engine", lines_of(plan::to_text(stored.root, BackendNames())));
        if (!stored.not_pushed.empty()) print_lines(es, "Not Pushed Down", stored.not_pushed);
        if (state->fallback_reason != nullptr) property(es, "Fallback", state->fallback_reason);
        if (state->execution == nullptr) return;
        // Without costs people want what is the same everywhere.
        std::vector<std::string> device;
        if (es->analyze)
            device = state->execution->device_report();
        else if (es->costs)
            device = ask(*state->execution);
        if (!device.empty()) print_lines(es, "Device", device);
        if (es->analyze) print_profile(*state->execution, es);
    });
}

}  // namespace loom::pg
