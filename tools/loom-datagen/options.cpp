#include "options.h"

#include <getopt.h>

#include <charconv>
#include <cstring>
#include <limits>
#include <thread>

#include "base/error.h"

namespace loom::datagen {

namespace {

[[noreturn]] void bad_option(const std::string& message) {
    throw base::Error(base::ErrorKind::kBadOption, message);
}

int64_t parse_count(const char* option, const char* text, int64_t low, int64_t high) {
    int64_t value = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error != std::errc() || stop != end || value < low || value > high)
        bad_option(fmt::format("invalid value \"{}\" for --{}: expected a number from {} to {}",
                               text, option, low, high));
    return value;
}

double parse_scale(const char* text) {
    double value = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error != std::errc() || stop != end || !(value > 0))
        bad_option(
            fmt::format("invalid value \"{}\" for --scale: expected a number above 0", text));
    return value;
}

FileFormat parse_format(std::string_view text) {
    for (FileFormat format : {FileFormat::kParquet, FileFormat::kArrow, FileFormat::kCsv})
        if (extension(format) == text) return format;
    bad_option(
        fmt::format("invalid value \"{}\" for --format: expected parquet, arrow or csv", text));
}

parquet::ValueEncoding parse_encoding(std::string_view text) {
    using parquet::ValueEncoding;
    if (text == "plain") return ValueEncoding::kPlain;
    if (text == "delta_binary_packed") return ValueEncoding::kDeltaBinaryPacked;
    if (text == "delta_length_byte_array") return ValueEncoding::kDeltaLengthByteArray;
    if (text == "delta_byte_array") return ValueEncoding::kDeltaByteArray;
    if (text == "byte_stream_split") return ValueEncoding::kByteStreamSplit;
    bad_option(fmt::format("invalid value \"{}\" for --encoding", text));
}

void print_help() {
    fmt::print(
        "loom-datagen generates data for tests and benchmarks.\n\n"
        "Usage:\n"
        "  loom-datagen KIND [OPTION]...\n\n"
        "Kinds:\n");
    for (const KindInfo& kind : kinds()) fmt::print("  {:<12}{}\n", kind.name, kind.summary);
    fmt::print(
        "\nWhat to generate:\n"
        "  -s, --scale=NUMBER       size of the data (default 1; ssb, tpch: the scale factor)\n"
        "  -r, --rows=NUMBER        rows of the table instead (ssb: of lineorder, tpch: of\n"
        "                           lineitem, about)\n"
        "  -t, --table=NAME         only this table\n"
        "      --seed=NUMBER        other data (default 1)\n"
        "      --wkb                devices: add the position as a WKB point\n"
        "\nWhere and how to write it:\n"
        "  -o, --out=DIRECTORY      default: the current directory\n"
        "  -f, --format=FORMAT      parquet (default), arrow or csv\n"
        "  -n, --files=NUMBER       write each table as that many files, TABLE/part-0000 and so "
        "on\n"
        "  -p, --partition=COLUMN   one directory per value, TABLE/COLUMN=VALUE; besides columns "
        "of the\n"
        "                           table: lo_year (ssb), o_year, l_year (tpch), day (accesslog)\n"
        "  -g, --row-group-size=NUMBER\n"
        "                           rows of a row group or record batch (default 122880, wide "
        "8192)\n"
        "  -c, --codec=CODEC        parquet: snappy (default), none, gzip, brotli, zstd, lz4\n"
        "                           arrow: none (default), zstd, lz4\n"
        "      --encoding=ENCODING  parquet, for columns that allow it: plain, "
        "delta_binary_packed,\n"
        "                           delta_length_byte_array, delta_byte_array, byte_stream_split\n"
        "      --no-dictionary      parquet: no dictionaries\n"
        "      --page-version=1|2   parquet: version of data pages (default 1)\n"
        "  -j, --threads=NUMBER     default: one per processor\n"
        "\nOther:\n"
        "  -V, --version            show the version, then exit\n"
        "  -?, --help               show this help, then exit\n\n"
        "The data depend on KIND, size and --seed only, not on threads, format or number of "
        "files.\n");
}

enum LongOption { kHelp = 1'000, kSeed, kWkb, kEncoding, kNoDictionary, kPageVersion };

const option kOptions[] = {{"scale", required_argument, nullptr, 's'},
                           {"rows", required_argument, nullptr, 'r'},
                           {"table", required_argument, nullptr, 't'},
                           {"seed", required_argument, nullptr, kSeed},
                           {"wkb", no_argument, nullptr, kWkb},
                           {"out", required_argument, nullptr, 'o'},
                           {"format", required_argument, nullptr, 'f'},
                           {"files", required_argument, nullptr, 'n'},
                           {"partition", required_argument, nullptr, 'p'},
                           {"row-group-size", required_argument, nullptr, 'g'},
                           {"codec", required_argument, nullptr, 'c'},
                           {"encoding", required_argument, nullptr, kEncoding},
                           {"no-dictionary", no_argument, nullptr, kNoDictionary},
                           {"page-version", required_argument, nullptr, kPageVersion},
                           {"threads", required_argument, nullptr, 'j'},
                           {"version", no_argument, nullptr, 'V'},
                           {"help", no_argument, nullptr, kHelp},
                           {nullptr, 0, nullptr, 0}};

constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 1'000'000;

void apply(int option, const char* value, CommandLine& line) {
    switch (option) {
        case 's':
            line.request.scale = parse_scale(value);
            break;
        case 'r':
            line.request.rows = parse_count("rows", value, 1, kMost);
            break;
        case 't':
            line.table = value;
            break;
        case kSeed:
            line.request.seed = static_cast<uint64_t>(parse_count("seed", value, 0, kMost));
            break;
        case kWkb:
            line.request.wkb = true;
            break;
        case 'o':
            line.output.directory = value;
            break;
        case 'f':
            line.output.format = parse_format(value);
            break;
        case 'n':
            line.output.files = parse_count("files", value, 1, 10'000);
            break;
        case 'p':
            line.output.partition = value;
            break;
        case 'g':
            line.output.row_group_rows = parse_count("row-group-size", value, 1, 100'000'000);
            break;
        case 'c':
            line.output.codec = codec::parse_codec(value);
            break;
        case kEncoding:
            line.output.encoding = parse_encoding(value);
            break;
        case kNoDictionary:
            line.output.dictionary = false;
            break;
        case kPageVersion:
            line.output.page_version = static_cast<int>(parse_count("page-version", value, 1, 2));
            break;
        case 'j':
            line.output.threads = static_cast<int>(parse_count("threads", value, 1, 1'024));
            break;
        default:
            bad_option("try \"loom-datagen --help\" for more information");
    }
}

}  // namespace

std::optional<CommandLine> parse_command_line(int argc, char** argv) {
    CommandLine line;
    line.output.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    // getopt has another meaning for '?': a mistake.
    if (argc > 1 && std::strcmp(argv[1], "-?") == 0) {
        print_help();
        return std::nullopt;
    }
    int option;
    while ((option = getopt_long(argc, argv, "s:r:t:o:f:n:p:g:c:j:V", kOptions, nullptr)) != -1) {
        if (option == kHelp) {
            print_help();
            return std::nullopt;
        }
        if (option == 'V') {
            fmt::print("loom-datagen (pg_loom) {}\n", LOOM_VERSION);
            return std::nullopt;
        }
        apply(option, optarg, line);
    }
    if (optind == argc) bad_option("no kind of data given; try \"loom-datagen --help\"");
    line.request.kind = argv[optind++];
    if (optind != argc)
        bad_option(fmt::format("too many arguments (the first is \"{}\")", argv[optind]));
    return line;
}

}  // namespace loom::datagen
