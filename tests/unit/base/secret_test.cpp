#include "base/secret.h"

#include <gtest/gtest.h>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

TEST(SecretTest, OfUrlsAreNotShown) {
  EXPECT_EQ(without_secrets("tar:https://me:pw@host:1/a.tar?X-Amz-Signature=ab&x=1"),
            "tar:https://***@host:1/a.tar?X-Amz-Signature=***&x=1");
  EXPECT_EQ(without_secrets("https://host/a?sig=1 and s3://k@b/c"),
            "https://host/a?sig=*** and s3://***@b/c");
  EXPECT_EQ(without_secrets("npy:s3://b/a.npy?endpoint=http://me:pw@host:9000&x=1"),
            "npy:s3://b/a.npy?endpoint=http://***@host:9000&x=1");
  EXPECT_EQ(shown_text("https://me:pw@host/a"), "https://***@host/a");
}

TEST(SecretTest, WhatHoldsNoneStaysAsItIs) {
  for (const std::string text :
       {"", "://", "/a@b?sig=1", "https://host/a@b?x=1&signal=2", "s3://bucket/key?", "a://b?&=&"})
    EXPECT_EQ(without_secrets(text), text);
  EXPECT_FALSE(holds_secret("https://host/a?member=jpg"));
  EXPECT_TRUE(holds_secret("http://me@host/"));
}

}  // namespace
}  // namespace loaderscope
