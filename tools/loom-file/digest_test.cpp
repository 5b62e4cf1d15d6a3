#include "digest.h"

#include <gtest/gtest.h>

#include <cmath>

#include "column/column.h"

namespace loom::file_tool {

namespace {

std::string md5(std::string_view text) {
    Md5 hash;
    hash.add(text);
    return hash.finish();
}

// The test suite of RFC 1321, appendix A.5.
TEST(Md5, KnownAnswers) {
    EXPECT_EQ(md5(""), "d41d8cd98f00b204e9800998ecf8427e");
    EXPECT_EQ(md5("a"), "0cc175b9c0f1b6a831c399e269772661");
    EXPECT_EQ(md5("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
    EXPECT_EQ(md5("1234567890123456789012345678901234567890123456789012345678901234567890"
                  "1234567890"),
              "57edf4a22be3c955ac49da2e2107b67a");
}

TEST(Md5, PiecesDoNotMatter) {
    const std::string text(1000, 'x');
    for (size_t piece : {1U, 55U, 56U, 63U, 64U, 65U, 999U}) {
        Md5 hash;
        for (size_t at = 0; at < text.size(); at += piece)
            hash.add(std::string_view(text).substr(at, piece));
        EXPECT_EQ(hash.finish(), md5(text)) << piece;
    }
}

TEST(Digest, Numbers) {
    column::ColumnBuilder builder(column::make_decimal(9, 2));
    builder.append(int32_t{-150});
    builder.append_null();
    builder.append(int32_t{1025});
    column::Column column = builder.finish();
    ColumnDigest digest(*column.type, {});
    digest.add(column.view());
    EXPECT_EQ(digest.rows(), 3);
    EXPECT_EQ(digest.non_null(), 2);
    EXPECT_EQ(digest.sum(), "8.75");
    EXPECT_EQ(digest.min(), "-1.50");
    EXPECT_EQ(digest.max(), "10.25");
    EXPECT_EQ(digest.hash(), md5("-1.50\n<null>\n10.25"));
}

TEST(Digest, NanIsAboveAllAndOutsideTheSum) {
    column::ColumnBuilder builder(column::make_type(column::TypeId::kFloat64));
    for (double value : {2.5, std::nan(""), -1.0}) builder.append(value);
    column::Column column = builder.finish();
    ColumnDigest digest(*column.type, {});
    digest.add(column.view());
    EXPECT_EQ(digest.sum(), "1.5");
    EXPECT_EQ(digest.min(), "-1.0");
    EXPECT_EQ(digest.max(), "nan");
}

TEST(Digest, LongTextsAreCut) {
    column::ColumnBuilder builder(column::make_type(column::TypeId::kUtf8));
    const std::string text(201, 'y');
    builder.append_bytes(text);
    column::Column column = builder.finish();
    ColumnDigest digest(*column.type, {});
    digest.add(column.view());
    EXPECT_EQ(digest.sum(), "201");
    EXPECT_EQ(digest.min(), std::string(120, 'y') + "…[201 chars, md5 " + md5(text) + "]");
}

}  // namespace

}  // namespace loom::file_tool
