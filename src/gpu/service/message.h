#pragma once
// What a backend and the device's process (loom-gpud) say to each other: frames on a local socket,
// and what stands in them. Both are of one build; a frame of another one is refused.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "exec/query.h"
#include "io/file.h"

namespace loom::gpu {

enum class FrameKind : uint8_t {
    kRun,       ///< to the process: a RunRequest
    kAsk,       ///< to the process: a RunRequest, of which only is asked what would come of it
    kInfo,      ///< to the process: nothing
    kColumns,   ///< to the process: nothing
    kEvict,     ///< to the process: fields, paths of files; none: all files
    kRows,      ///< back: rows of the result, then how many milliseconds kernels ran (double)
    kDeclined,  ///< back: why the CPU has to answer
    kWorking,   ///< back: nothing yet, but the process lives
    kFacts      ///< back: fields: of kAsk nothing, or what has to be waited for; of each device
                ///< kDeviceFacts, of each column of a file kColumnFacts, or the bytes that are free
                ///< again
};

/// Number, name, architecture, bytes of memory, free ones, those of columns.
inline constexpr size_t kDeviceFacts = 6;
/// The device's number, path, field, type, encoding, rows, bytes, uses, seconds since the last,
/// whether it is in use.
inline constexpr size_t kColumnFacts = 10;
/// Texts without zeros, each with a 0 behind it.
std::string join_fields(std::span<const std::string> fields);
std::vector<std::string> split_fields(std::string_view bytes);

/// A file of a table as the process opens it: it has to be this version of it.
struct RequestFile {
    std::string path;
    io::FileIdentity identity;
    std::vector<exec::ScanFile::Column> columns;  ///< without layouts
};

/// One aggregate and what it reads.
struct RunRequest {
    std::string plan;       ///< of plan::serialise()
    bool prepared = false;  ///< only if its columns and kernels are there already
    std::vector<std::vector<RequestFile>> tables;
    std::vector<plan::ParameterValue> parameters;
};

std::string encode(const RunRequest& request);
/// Raises kCorrupt for what encode() has not written.
RunRequest decode_request(base::ByteSpan bytes);

/// Takes rows from a source until it ends.
std::string encode_rows(exec::RowSource& rows, const std::vector<plan::Type>& types);
/// Returns rows that encode_rows() has written for a plan of these types; raises kCorrupt.
std::unique_ptr<exec::RowSource> decode_rows(std::string bytes,
                                             const std::vector<plan::Type>& types);

}  // namespace loom::gpu
