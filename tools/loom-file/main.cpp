// loom-file: looks into Parquet and Arrow files.

#include <cstdio>
#include <cstdlib>
#include <exception>

#include <fmt/format.h>
#include <getopt.h>

#include "column/scalar.h"
#include "commands.h"

namespace loom::file_tool {

namespace {

constexpr const char* kHelp =
    R"(loom-file shows what is in Parquet and Arrow files.

Usage:
  loom-file COMMAND [OPTION]... FILE...

Commands:
  schema              columns with their types and metadata
  meta                format, size, number of rows, metadata of the file
  row-groups          row groups with sizes, encodings, compression and statistics
  head                first rows (10 unless --limit says otherwise)
  cat                 all rows
  digest              one line a column, separated by tabs: rows, name, type,
                      values that are not NULL, sum, min, max, MD5 of all values

Options:
  -c, --column=NAME   only this column (may be given several times)
  -f, --format=FORMAT rows as csv (default) or json, one object a line
  -n, --limit=ROWS    at most so many rows
      --raw           dates, times and decimals as the integers in the file
      --micros[=HOW]  cut nanoseconds to microseconds: floor (default) or zero
      --no-zone       instants without +00
  -V, --version       output version information, then exit
  -?, --help          show this help, then exit

Exit status: 0 if all files were read, 1 if one could not be read, 2 for wrong usage.
)";

[[noreturn]] void refuse_usage(const std::string& message) {
    fmt::print(stderr, "loom-file: {}\nTry \"loom-file --help\" for more information.\n", message);
    std::exit(2);
}

enum LongOption { kRaw = 256, kMicros, kNoZone };

column::Nanos cut_of(const char* how) {
    if (how == nullptr || std::string_view(how) == "floor") return column::Nanos::kFloor;
    if (std::string_view(how) == "zero") return column::Nanos::kTowardsZero;
    refuse_usage(fmt::format("unknown way to cut nanoseconds \"{}\"", how));
}

Options parse(int argc, char** argv) {
    static const option kOptions[] = {{"column", required_argument, nullptr, 'c'},
                                      {"format", required_argument, nullptr, 'f'},
                                      {"limit", required_argument, nullptr, 'n'},
                                      {"raw", no_argument, nullptr, kRaw},
                                      {"micros", optional_argument, nullptr, kMicros},
                                      {"no-zone", no_argument, nullptr, kNoZone},
                                      {"version", no_argument, nullptr, 'V'},
                                      {"help", no_argument, nullptr, '?'},
                                      {nullptr, 0, nullptr, 0}};
    Options options;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, "c:f:n:V?", kOptions, nullptr)) != -1;) {
        switch (c) {
            case 'c':
                options.columns.emplace_back(optarg);
                break;
            case 'f':
                if (std::string_view(optarg) != "csv" && std::string_view(optarg) != "json")
                    refuse_usage(fmt::format("unknown format \"{}\"", optarg));
                options.rows =
                    std::string_view(optarg) == "json" ? RowFormat::kJson : RowFormat::kCsv;
                break;
            case 'n': {
                const auto limit = column::parse_int128(optarg);
                if (!limit || *limit < 0 || *limit > INT64_MAX)
                    refuse_usage(fmt::format("\"{}\" is not a number of rows", optarg));
                options.limit = static_cast<int64_t>(*limit);
                break;
            }
            case kRaw:
                options.style.raw_integers = true;
                break;
            case kMicros:
                options.style.nanos = cut_of(optarg);
                break;
            case kNoZone:
                options.style.omit_zone = true;
                break;
            case 'V':
                fmt::print("loom-file (pg_loom) {}\n", LOOM_VERSION);
                std::exit(0);
            default: {
                // getopt reports an unknown option as '?' too; --help and -? are the ones it knows.
                const std::string_view given = argv[optind - 1];
                if (given != "--help" && given != "-?")
                    refuse_usage(fmt::format("unrecognized option \"{}\"", given));
                fmt::print("{}", kHelp);
                std::exit(0);
            }
        }
    }
    return options;
}

using Command = void (*)(const format::TableReader&, const Options&);

Command find_command(std::string_view name, Options& options) {
    if (name == "schema") return [](const auto& table, const Options&) { print_schema(table); };
    if (name == "meta") return [](const auto& table, const Options&) { print_metadata(table); };
    if (name == "row-groups")
        return [](const auto& table, const Options&) { print_row_groups(table); };
    if (name == "head") {
        if (options.limit < 0) options.limit = 10;
        return print_rows;
    }
    if (name == "cat") return print_rows;
    if (name == "digest") return print_digest;
    refuse_usage(fmt::format("unknown command \"{}\"", name));
}

int run(int argc, char** argv) {
    Options options = parse(argc, argv);
    if (optind >= argc) refuse_usage("no command given");
    const std::string_view name = argv[optind++];
    const Command command = find_command(name, options);
    if (optind >= argc) refuse_usage("no file given");
    options.with_name = argc - optind > 1;
    int status = 0;
    for (; optind < argc; ++optind) {
        try {
            const auto table = format::open_table(io::open_local_file(argv[optind]), {});
            if (options.with_name && name != "digest") fmt::print("==> {} <==\n", argv[optind]);
            command(*table, options);
        } catch (const std::exception& error) {
            std::fflush(stdout);
            fmt::print(stderr, "loom-file: error: {}\n", error.what());
            status = 1;
        }
    }
    if (std::fflush(stdout) != 0) {
        fmt::print(stderr, "loom-file: error: could not write to standard output\n");
        return 1;
    }
    return status;
}

}  // namespace

}  // namespace loom::file_tool

int main(int argc, char** argv) {
    return loom::file_tool::run(argc, argv);
}
