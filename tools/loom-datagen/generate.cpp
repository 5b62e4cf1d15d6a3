#include "generate.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>

#include "base/parallel.h"
#include "partition.h"

namespace loom::datagen {

namespace fs = std::filesystem;

namespace {

// Each open partition holds a row group in memory.
constexpr size_t kMaxPartitions = 1'000;

/// Chunks [begin, end) that go to one file (or one file per partition).
struct ChunkRange {
    int64_t begin = 0;
    int64_t end = 0;
};

class Generation {
  public:
    Generation(const Table& table, const OutputOptions& options, Progress& progress)
        : table_(table), options_(options), progress_(progress) {
        if (!options.partition.empty() && PartitionKey::exists(table, options.partition))
            key_.emplace(table, options.partition);
        in_directory_ = key_.has_value() || options.files > 1;
    }

    Written run();

  private:
    void make_directory() const;
    void write_range(const ChunkRange& range, int64_t file, int threads);
    void write_partitions(const ChunkRange& range, int64_t file, int threads);
    std::unique_ptr<OutputFile> create(const fs::path& path, const column::Schema& schema,
                                       int threads) const;
    fs::path file_path(const std::string& partition, int64_t file) const;
    void add(const OutputFile& file);
    void check_stop() const {
        if (options_.stop != nullptr && options_.stop->stop_requested())
            throw base::Error(base::ErrorKind::kCancelled, "interrupted");
    }

    const Table& table_;
    const OutputOptions& options_;
    Progress& progress_;
    std::optional<PartitionKey> key_;
    bool in_directory_ = false;
    std::mutex mutex_;
    Written written_;
};

fs::path Generation::file_path(const std::string& partition, int64_t file) const {
    const fs::path directory(options_.directory);
    const std::string suffix = fmt::format(".{}", extension(options_.format));
    if (!in_directory_) return directory / (table_.name() + suffix);
    return directory / table_.name() / partition / fmt::format("part-{:04}{}", file, suffix);
}

std::unique_ptr<OutputFile> Generation::create(const fs::path& path, const column::Schema& schema,
                                               int threads) const {
    fs::create_directories(path.parent_path());
    const int64_t row_group =
        options_.row_group_rows != 0 ? options_.row_group_rows : table_.row_group_rows();
    return create_file(path.string(), schema, options_, row_group, threads);
}

void Generation::add(const OutputFile& file) {
    std::lock_guard lock(mutex_);
    written_.bytes += file.bytes();
    ++written_.files;
}

// Makes as many chunks as there are threads side by side, then writes them in order.
void Generation::write_range(const ChunkRange& range, int64_t file, int threads) {
    const auto output = create(file_path("", file), table_.schema(), threads);
    for (int64_t begin = range.begin; begin < range.end; begin += threads) {
        check_stop();
        const int64_t count = std::min<int64_t>(threads, range.end - begin);
        std::vector<Prepared> batch(count);
        base::parallel_for(threads, count, [&](int64_t i) {
            batch[i].block = table_.make_chunk(begin + i);
            output->prepare(batch[i]);
        });
        for (Prepared& prepared : batch) {
            output->write(prepared);
            progress_.advance(prepared.block.rows);
        }
    }
    output->finish();
    add(*output);
}

void Generation::write_partitions(const ChunkRange& range, int64_t file, int threads) {
    std::map<std::string, std::unique_ptr<OutputFile>> outputs;
    for (int64_t chunk = range.begin; chunk < range.end; ++chunk) {
        check_stop();
        Block block = table_.make_chunk(chunk);
        std::map<std::string, Block> parts = key_->split(block);
        std::vector<std::pair<OutputFile*, Block*>> jobs;
        for (auto& [partition, part] : parts) {
            auto& output = outputs[partition];
            if (output == nullptr) output = create(file_path(partition, file), key_->schema(), 1);
            jobs.emplace_back(output.get(), &part);
        }
        if (outputs.size() > kMaxPartitions)
            base::raise(base::ErrorKind::kLimit,
                        "\"{}\" has more than {} values: too many partitions", options_.partition,
                        kMaxPartitions);
        base::parallel_for(threads, static_cast<int64_t>(jobs.size()), [&](int64_t i) {
            Prepared prepared{std::move(*jobs[i].second), {}};
            jobs[i].first->prepare(prepared);
            jobs[i].first->write(prepared);
        });
        progress_.advance(block.rows);
    }
    for (auto& [partition, output] : outputs) {
        output->finish();
        add(*output);
    }
}

void Generation::make_directory() const {
    fs::create_directories(options_.directory);
    const fs::path directory = fs::path(options_.directory) / table_.name();
    if (in_directory_ && fs::exists(directory) && !fs::is_empty(directory))
        base::raise(base::ErrorKind::kBadOption, "directory \"{}\" exists and is not empty",
                    directory.string());
}

Written Generation::run() {
    const auto start = std::chrono::steady_clock::now();
    make_directory();
    progress_.begin(table_.name());
    const int64_t chunks = table_.chunk_count();
    const int64_t files = std::clamp<int64_t>(options_.files, 1, chunks);
    const int file_threads = files == 1 ? options_.threads : 1;
    base::parallel_for(options_.threads, files, [&](int64_t file) {
        const ChunkRange range{chunks * file / files, chunks * (file + 1) / files};
        if (key_)
            write_partitions(range, file, file_threads);
        else
            write_range(range, file, file_threads);
    });
    written_.rows = progress_.end();
    written_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return written_;
}

}  // namespace

Written generate(const Table& table, const OutputOptions& options, Progress& progress) {
    return Generation(table, options, progress).run();
}

}  // namespace loom::datagen
