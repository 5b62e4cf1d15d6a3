#pragma once
// What expressions over one column of texts give for each text of its dictionary.

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu/codegen/kernel_text.h"
#include "gpu/memory/device_table.h"
#include "plan/expr.h"

namespace loom::gpu {

/// Makes such tables, and keeps those that were asked for last: dictionaries of columns on the
/// device outlive runs. In all calls `slot` is the one that the expression reads, whose column
/// `column` is; NotInKernels is raised where the expression faults for any text: whether a row has
/// that text, the CPU engine finds out. May be used by several threads.
class TextTables {
  public:
    static constexpr uint64_t kMostBytes = uint64_t{1} << 26;
    using Answers = std::vector<uint8_t>;

    explicit TextTables(uint64_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

    /// Returns for each text, and behind them for NULL, what a condition says: 0 is false, 1 true,
    /// 2 NULL.
    std::shared_ptr<const Answers> answers(const plan::Expr& condition, int slot,
                                           const DeviceColumn& column,
                                           std::span<const plan::ParameterValue> parameters);
    /// Returns what an expression that is a text makes of each text.
    std::shared_ptr<const ComputedTexts> texts(const plan::Expr& expr, int slot,
                                               const DeviceColumn& column,
                                               std::span<const plan::ParameterValue> parameters);

    /// How often a table that was there has served.
    uint64_t hits() const;

  private:
    // One of the two is there.
    struct Table {
        std::string key;
        std::weak_ptr<const TextDictionary> dictionary;
        std::shared_ptr<const Answers> answers;
        std::shared_ptr<const ComputedTexts> texts;
        uint64_t bytes = 0;
    };

    Table find(const std::string& key, const std::shared_ptr<TextDictionary>& dictionary);
    void keep(Table table);
    void drop(std::list<Table>::iterator at);

    const uint64_t most_bytes_;
    mutable std::mutex mutex_;
    std::list<Table> tables_;  // the last used first
    std::unordered_map<std::string, std::list<Table>::iterator> by_key_;
    uint64_t bytes_ = 0;
    uint64_t hits_ = 0;
};

}  // namespace loom::gpu
