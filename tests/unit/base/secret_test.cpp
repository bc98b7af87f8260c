#include "base/secret.h"

#include <gtest/gtest.h>

#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

TEST(SecretTest, HidesSecretsOfUrls) {
  EXPECT_EQ(without_secrets("tar:https://me:pw@host:1/a.tar?X-Amz-Signature=ab&x=1"),
            "tar:https://***@host:1/a.tar?X-Amz-Signature=***&x=1");
  EXPECT_EQ(without_secrets("https://host/a?sig=1 and s3://k@b/c"),
            "https://host/a?sig=*** and s3://***@b/c");
  EXPECT_EQ(without_secrets("npy:s3://b/a.npy?endpoint=http://me:pw@host:9000&x=1"),
            "npy:s3://b/a.npy?endpoint=http://***@host:9000&x=1");
  EXPECT_EQ(shown_text("https://me:pw@host/a"), "https://***@host/a");
}

TEST(SecretTest, HidesTheValuesOfSignedUrlsOfAllClouds) {
  for (const char* name : {"X-Amz-Signature",
                           "X-Amz-Credential",
                           "X-Amz-Security-Token",
                           "AWSAccessKeyId",
                           "Signature",
                           "X-Goog-Signature",
                           "X-Goog-Credential",
                           "GoogleAccessId",
                           "sig",
                           "x-oss-signature",
                           "x-oss-credential",
                           "x-oss-security-token",
                           "OSSAccessKeyId",
                           "q-signature",
                           "q-ak",
                           "x-cos-security-token",
                           "X-Tos-Signature",
                           "Key-Pair-Id",
                           "Policy",
                           "hdnts",
                           "password",
                           "passwd",
                           "pwd",
                           "key",
                           "api_key",
                           "apikey",
                           "api-key",
                           "auth",
                           "auth_token",
                           "token",
                           "access_token",
                           "refresh.token",
                           "private-token",
                           "client_secret",
                           "secret",
                           "jwt"}) {
    const std::string url = "https://host/a?x=1&" + std::string(name) + "=";
    EXPECT_EQ(without_secrets(url + "ab/c%20d&y=2#z"), url + "***&y=2#z");
    EXPECT_TRUE(holds_secret(url + "ab"));
  }
  EXPECT_EQ(without_secrets("https://host/a#access_token=1;b=2"),
            "https://host/a#access_token=***;b=2");
}

TEST(SecretTest, HidesSignaturesInMessagesOfRequests) {
  EXPECT_EQ(without_secrets("retries exceeded with url: /a?X-Amz-Signature=1&x=2 (Caused by x?)"),
            "retries exceeded with url: /a?X-Amz-Signature=***&x=2 (Caused by x?)");
}

TEST(SecretTest, HidesAPasswordThatIsCutOff) {
  EXPECT_EQ(without_secrets("https://me:passw"), "https://***");
  for (const std::string text :
       {"https://host:80", "https://host:", "http://[::1]", "https://host"})
    EXPECT_EQ(without_secrets(text), text);
}

TEST(SecretTest, HidesSecretAfterAnotherSecret) {
  EXPECT_EQ(without_secrets("?x-signature=1s://me:pw@host/a"), "?x-signature=***://***@host/a");
  // The value has the name of a secret once its password is hidden.
  EXPECT_EQ(without_secrets("a://b?c://x=pw@h-signature=1"), "a://b?c://***@h-signature=***");
}

TEST(SecretTest, KeepsTextWithoutSecrets) {
  for (const std::string text :
       {"", "://", "/a@b?sig=1", "https://host/a@b?x=1&signal=2", "s3://bucket/key?", "a://b?&=&"})
    EXPECT_EQ(without_secrets(text), text);
  EXPECT_FALSE(holds_secret("https://host/a?member=jpg"));
  EXPECT_TRUE(holds_secret("http://me@host/"));
}

}  // namespace
}  // namespace loaderscope
