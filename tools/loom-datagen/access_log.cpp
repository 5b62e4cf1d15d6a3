// Requests to a web site. Rows are in order of time, about 50 a second.

#include <chrono>

#include "random.h"
#include "table.h"

namespace loom::datagen {

using column::make_type;
using column::TypeId;

namespace {

constexpr int64_t kRowsAtScale1 = 10'000'000;
constexpr int64_t kChunkRows = 65'536;
constexpr int64_t kFirstMicros = 1'735'689'600'000'000;  // 2025-01-01 00:00 UTC
constexpr int64_t kStepMicros = 20'000;

constexpr std::string_view kMethods[] = {"GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS"};
constexpr int16_t kStatuses[] = {200, 304, 301, 404, 302, 500, 403, 206, 503, 400};
constexpr std::string_view kSections[] = {"news",   "sport", "shop",    "search",
                                          "images", "video", "account", "help"};
// Long names are parted on purpose: each ends in a blank where it goes on.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
constexpr std::string_view kAgents[] = {
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 "
    "Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
    "Gecko) Mobile/15E148",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.1 Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
    "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Mobile "
    "Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0",
    "Mozilla/5.0 (compatible; examplebot/2.1; +http://bot.example/about)",
    "curl/8.11.0"};
// NOLINTEND(bugprone-suspicious-missing-comma)
constexpr std::string_view kReferrers[] = {
    "https://www.example.org/",
    "https://search.example.com/?q=", "https://social.example.net/post/",
    "https://mail.example.com/"};

// Squaring a uniform number favours the front of a list, as popularity does.
uint32_t skewed(const Sequence& random, uint64_t position, size_t n) {
    const double u = random.unit(position);
    return static_cast<uint32_t>(u * u * static_cast<double>(n));
}

class AccessLog final : public EvenTable {
  public:
    explicit AccessLog(const Request& request);

  private:
    Block make_rows(int64_t first, int64_t count) const override;
    column::Column make_addresses(int64_t first, int64_t count) const;
    column::Column make_urls(int64_t first, int64_t count) const;
    column::Column make_referrers(int64_t first, int64_t count) const;

    Sequence time_, address_, method_, url_, status_, size_, agent_, referrer_, duration_;
    Words methods_{kMethods}, agents_{kAgents};
};

AccessLog::AccessLog(const Request& request)
    : time_(request.seed, "accesslog", 0),
      address_(request.seed, "accesslog", 1),
      method_(request.seed, "accesslog", 2),
      url_(request.seed, "accesslog", 3),
      status_(request.seed, "accesslog", 4),
      size_(request.seed, "accesslog", 5),
      agent_(request.seed, "accesslog", 6),
      referrer_(request.seed, "accesslog", 7),
      duration_(request.seed, "accesslog", 8) {
    name_ = "accesslog";
    const auto text = make_type(TypeId::kUtf8);
    add_field("ts", column::make_timestamp(column::TimeUnit::kMicro, "UTC"));
    add_field("ip", text);
    add_field("method", text);
    add_field("url", text);
    add_field("status", make_type(TypeId::kInt16));
    add_field("bytes", make_type(TypeId::kInt64));
    add_field("user_agent", text);
    add_field("referrer", text, true);
    add_field("duration_ms", make_type(TypeId::kFloat64));
    derived_keys_.push_back(
        {"day", "ts", [](const column::ColumnView& view, int64_t row) {
             const std::chrono::sys_time<std::chrono::microseconds> time{
                 std::chrono::microseconds(view.as<int64_t>()[row])};
             const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(time));
             return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                                static_cast<unsigned>(day.month()),
                                static_cast<unsigned>(day.day()));
         }});
    set_rows(wanted_rows(request, kRowsAtScale1), kChunkRows);
}

column::Column AccessLog::make_addresses(int64_t first, int64_t count) const {
    BytesFiller addresses(make_type(TypeId::kUtf8), count, 16);
    for (int64_t row = first; row < first + count; ++row) {
        // 50,000 clients, some of them far busier than others.
        const uint64_t client = scatter(skewed(address_, row, 50'000) + 1);
        addresses.add(fmt::format("{}.{}.{}.{}", 1 + client % 223, client >> 8 & 255,
                                  client >> 16 & 255, client >> 24 & 255));
    }
    return addresses.finish();
}

column::Column AccessLog::make_urls(int64_t first, int64_t count) const {
    BytesFiller urls(make_type(TypeId::kUtf8), count, 40);
    for (int64_t row = first; row < first + count; ++row) {
        const uint64_t at = static_cast<uint64_t>(row) * 4;
        const std::string_view section = kSections[skewed(url_, at, std::size(kSections))];
        const uint32_t page = skewed(url_, at + 1, 20'000);
        switch (url_.below(at + 2, 5)) {
            case 0:
                urls.add(fmt::format("/{}/{}?ref=mail&u={}", section, page,
                                     url_.below(at + 3, 100'000)));
                break;
            case 1:
                urls.add(fmt::format("/{}/", section));
                break;
            default:
                urls.add(fmt::format("/{}/article-{}.html", section, page));
        }
    }
    return urls.finish();
}

column::Column AccessLog::make_referrers(int64_t first, int64_t count) const {
    BytesFiller referrers(make_type(TypeId::kUtf8), count, 30);
    for (int64_t row = first; row < first + count; ++row) {
        const uint64_t at = static_cast<uint64_t>(row) * 2;
        if (referrer_.chance(at, 0.35)) {
            referrers.add_null();
            continue;
        }
        const uint32_t site = skewed(referrer_, at + 1, std::size(kReferrers));
        std::string text(kReferrers[site]);
        if (site == 1 || site == 2) text += std::to_string(referrer_.below(at, 5'000));
        referrers.add(text);
    }
    return referrers.finish();
}

Block AccessLog::make_rows(int64_t first, int64_t count) const {
    Block block;
    block.rows = count;
    auto time = make_fixed(schema_.fields[0].type, count);
    auto method = methods_.make_column(count);
    auto status = make_fixed(make_type(TypeId::kInt16), count);
    auto bytes = make_fixed(make_type(TypeId::kInt64), count);
    auto agent = agents_.make_column(count);
    auto duration = make_fixed(make_type(TypeId::kFloat64), count);
    for (int64_t i = 0; i < count; ++i) {
        const int64_t row = first + i;
        time.values.as<int64_t>()[i] =
            kFirstMicros + row * kStepMicros + time_.below(row, kStepMicros);
        const double method_draw = method_.unit(row);
        method.values.data()[i] =
            static_cast<uint8_t>(method_draw < 0.85 ? 0
                                                    : 1 + method_.below(row + (int64_t{1} << 40),
                                                                        std::size(kMethods) - 1));
        const double status_draw = status_.unit(row);
        status.values.as<int16_t>()[i] =
            kStatuses[status_draw < 0.8
                          ? 0
                          : skewed(status_, row + (int64_t{1} << 40), std::size(kStatuses))];
        bytes.values.as<int64_t>()[i] = 200 + static_cast<int64_t>(size_.exponential(row, 20'000));
        agent.values.data()[i] = static_cast<uint8_t>(skewed(agent_, row, std::size(kAgents)));
        // Microsecond steps, so that the text form is short and exact.
        duration.values.as<double>()[i] =
            static_cast<double>(static_cast<int64_t>(duration_.exponential(row, 45'000))) / 1000;
    }
    block.columns.push_back(std::move(time));
    block.columns.push_back(make_addresses(first, count));
    block.columns.push_back(std::move(method));
    block.columns.push_back(make_urls(first, count));
    block.columns.push_back(std::move(status));
    block.columns.push_back(std::move(bytes));
    block.columns.push_back(std::move(agent));
    block.columns.push_back(make_referrers(first, count));
    block.columns.push_back(std::move(duration));
    return block;
}

}  // namespace

std::vector<std::unique_ptr<Table>> make_access_log(const Request& request) {
    std::vector<std::unique_ptr<Table>> tables;
    tables.push_back(std::make_unique<AccessLog>(request));
    return tables;
}

}  // namespace loom::datagen
