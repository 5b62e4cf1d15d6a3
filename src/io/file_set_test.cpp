#include "io/file_set.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "io/path_pattern.h"

namespace loom::io {
namespace {

using Values = std::vector<std::string>;

TEST(PathPattern, CapturesKeysAsArrowFdwDoes) {
    PathPattern pattern("f_@{ymd}_${region}.arrow");
    EXPECT_EQ(pattern.match("f_202408_tokyo.arrow"), (Values{"202408", "tokyo"}));
    EXPECT_FALSE(pattern.match("f_2024x8_tokyo.arrow"));
    EXPECT_FALSE(pattern.match("f__tokyo.arrow"));
    EXPECT_FALSE(pattern.match("f_202408_tokyo.arrow.bak"));
    EXPECT_EQ(PathPattern("${a}_${b}").match("x_y_z"), (Values{"x", "y_z"}));
    EXPECT_TRUE(PathPattern("*.par?uet").match("a.parquet"));
    EXPECT_TRUE(PathPattern("price$").match("price$"));
}

TEST(PathPattern, RefusesBadKeys) {
    EXPECT_THROW(PathPattern("a${"), base::Error);
    EXPECT_THROW(PathPattern("${}"), base::Error);
    EXPECT_THROW(PathPattern("${a}@{a}"), base::Error);
}

TEST(PathPattern, EndsOnHostilePatterns) {
    EXPECT_FALSE(PathPattern("*a*a*a*a*a*a*a*a*a*a*b").match(std::string(200, 'a')));
}

TEST(PercentDecode, DecodesOnce) {
    EXPECT_EQ(percent_decode("a%2Fb%252F%zz%4"), "a/b%2F%zz%4");
}

class FileSetTest : public testing::Test {
  protected:
    std::string root = testing::TempDir() + "loom_file_set_" + std::to_string(getpid());
    void SetUp() override { std::filesystem::create_directories(root); }
    void TearDown() override { std::filesystem::remove_all(root); }
    void put(const std::string& path) {
        std::filesystem::create_directories(std::filesystem::path(root + "/" + path).parent_path());
        std::ofstream(root + "/" + path) << "x";
    }
    std::string message(const FileSetSpec& spec) {
        try {
            list_files(spec);
        } catch (const base::Error& error) {
            return error.what();
        }
        return "";
    }
};

TEST_F(FileSetTest, DirectoryIsFlatUnlessAsked) {
    put("b.arrow");
    put("a.parquet");
    put(".hidden");
    put("_SUCCESS");
    put("sub/c.arrow");
    FileSetSpec spec;
    spec.dir = root + "/";
    auto files = list_files(spec);
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files[0].path, root + "/a.parquet");
    spec.suffix = "arrow";
    EXPECT_EQ(list_files(spec).size(), 1U);
    spec.recursive = true;
    EXPECT_EQ(list_files(spec).size(), 2U);
}

TEST_F(FileSetTest, HiveKeysAreDecodedAndNullIsNull) {
    put("k=1/j=a%2Fb/x.parquet");
    put("k=__HIVE_DEFAULT_PARTITION__/j=/x.parquet");
    FileSetSpec spec;
    spec.dir = root;
    spec.hive = true;
    auto files = list_files(spec);
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files[0].keys[0].value, "1");
    EXPECT_EQ(files[0].keys[1].value, "a/b");
    EXPECT_EQ(files[1].keys[0].value, std::nullopt);
    EXPECT_EQ(files[1].keys[1].value, "");
}

TEST_F(FileSetTest, InconsistentHiveLayoutsNameThePath) {
    put("k=1/x.parquet");
    put("K=2/x.parquet");
    FileSetSpec spec;
    spec.dir = root;
    spec.hive = true;
    EXPECT_NE(message(spec).find("k=1/x.parquet"), std::string::npos);
    std::filesystem::remove_all(root + "/K=2");
    put("plain/x.parquet");
    EXPECT_NE(message(spec).find("/plain"), std::string::npos);
    std::filesystem::remove_all(root + "/plain");
    put("k=2/bucket-0/x.parquet");
    EXPECT_EQ(list_files(spec).size(), 2U);
}

}  // namespace
}  // namespace loom::io
