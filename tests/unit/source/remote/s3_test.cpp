// Checks the parts that only stores with the S3 protocol need.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "loaderscope/errors.h"
#include "source/remote/fetcher.h"
#include "source/remote/http_response.h"
#include "source/remote/signature.h"
#include "unit/source/temp_folder.h"

namespace loaderscope::source {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = SampleError::Kind;

AwsSettings example() {
  AwsSettings settings;
  settings.key_id = "AKIDEXAMPLE";
  settings.key = Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
  settings.region = "eu-west-1";
  return settings;
}

constexpr std::time_t kThen = 1767323045;  // 2026-01-02 03:04:05 UTC

std::string make_signature(const SignedRequest& request, const AwsSettings& settings) {
  const auto headers = signature_headers(request, settings, kThen);
  if (headers.empty()) return "";
  const std::string& first = headers.front().exposed();
  return first.substr(first.rfind('=') + 1);
}

// The expected values come from botocore 1.44.
TEST(Signature, EqualsSignatureOfBotocore) {
  EXPECT_EQ(
      make_signature({"s3.eu-west-1.amazonaws.com", "/bucket/a%20b/%C3%BC%2B1.tar", ""}, example()),
      "da12fee6a4cc8cdfc0f9e79c2f53cebc42eecdbd8cce332b61d081edf4273ce9");
  AwsSettings session = example();
  session.session_token = Secret("TOKEN/x==");
  EXPECT_EQ(make_signature(
                {"127.0.0.1:9000", "/bucket", "delimiter=%2F&list-type=2&max-keys=1&prefix=a%2F"},
                session),
            "eb295f29b3b5d829c3751810ede4506a870d1a702eeefcfb4a506414f8db1b53");
  EXPECT_EQ(make_signature({"host", "/bucket", ""}, {}), "");
}

TEST(Signature, EncodesSpecialCharacters) {
  EXPECT_EQ(percent_encoded("a b/\xc3\xbc+~-_.", true), "a%20b/%C3%BC%2B~-_.");
  EXPECT_EQ(percent_encoded("a/b", false), "a%2Fb");
}

struct AwsSettingsTest : testing::Test {
  AwsSettings read() const {
    return read_aws_settings([this](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
  }
  TempFolder home;
  std::map<std::string, std::string, std::less<>> variables = {{"HOME", home.path()}};
};

TEST_F(AwsSettingsTest, PrefersEnvironmentToFiles) {
  home.write(".aws/credentials",
             "[default]\naws_access_key_id = of-default\naws_secret_access_key = s1\n"
             "[work]\naws_access_key_id=of-work\naws_secret_access_key=s2\n"
             "aws_session_token = t2 # not a comment\n");
  home.write(".aws/config", "[profile work]\nregion = eu-north-1\nendpoint_url = http://m:9000/\n");
  EXPECT_EQ(read().key_id, "of-default");
  EXPECT_EQ(read().endpoint, "https://s3.us-east-1.amazonaws.com");
  variables["AWS_PROFILE"] = "work";
  EXPECT_EQ(read().key_id, "of-work");
  EXPECT_EQ(read().key.exposed(), "s2");
  EXPECT_EQ(read().region, "eu-north-1");
  EXPECT_EQ(read().endpoint, "http://m:9000");
  variables["AWS_ACCESS_KEY_ID"] = "of-environment";
  EXPECT_EQ(read().key_id, "of-work") << "half a key is none";
  variables["AWS_SECRET_ACCESS_KEY"] = "s3";
  variables["AWS_REGION"] = "us-west-2";
  EXPECT_EQ(read().key_id, "of-environment");
  EXPECT_TRUE(read().session_token.empty());
  EXPECT_EQ(read().region, "us-west-2");
}

TEST_F(AwsSettingsTest, AcceptsMissingCredentials) {
  EXPECT_EQ(read().key_id, "");
  EXPECT_EQ(read().origin, "nowhere");
}

TEST(S3ListingTest, ReadsKeysFoldersAndContinuation) {
  const S3Listing listing = parse_s3_listing(
      R"(<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
         <Prefix>a/</Prefix><Contents><Key>a/1 &amp; 2.jpg</Key><Size>3</Size></Contents>
         <Contents><Key>a/b.jpg</Key></Contents>
         <CommonPrefixes><Prefix>a/c/</Prefix></CommonPrefixes>
         <NextContinuationToken>1/x==</NextContinuationToken></ListBucketResult>)");
  EXPECT_THAT(listing.keys, ElementsAre("a/1 & 2.jpg", "a/b.jpg"));
  EXPECT_THAT(listing.prefixes, ElementsAre("a/c/"));
  EXPECT_EQ(listing.continuation, "1/x==");
}

TEST(S3ListingTest, RejectsOtherTexts) {
  for (const std::string text : {"", "<html></html>", "<ListBucketResult>", "no xml"})
    EXPECT_THROW(parse_s3_listing(text), ValueError) << text;
  EXPECT_THROW(parse_s3_listing("<ListBucketResult><Contents><Key>" + std::string(5000, 'k') +
                                "</Key></Contents></ListBucketResult>"),
               ValueError);
}

TEST(AnswerTest, ReadsHeaders) {
  HttpResponse answer;
  for (const char* line :
       {"HTTP/1.1 302 Found\r\n", "etag: \"old\"\r\n", "HTTP/2 206\r\n", "Content-Length: 100\r\n",
        "content-range: bytes 5-104/2000\r\n", "ETag: \"new\"\r\n", "Retry-After: 3\r\n"})
    answer.take_header(line);
  EXPECT_EQ(answer.status, 206);
  EXPECT_EQ(answer.length, 100);
  EXPECT_EQ(answer.range_begin, 5);
  EXPECT_EQ(answer.range_end, 105);
  EXPECT_EQ(answer.object_bytes, 2000);
  EXPECT_EQ(answer.retry_after, 3);
  EXPECT_EQ(answer.tag, "\"new\"");
}

TEST(AnswerTest, IgnoresNonsense) {
  HttpResponse answer;
  for (const char* line : {"Content-Length: -1", "Content-Range: bytes 9-5/2", "Content-Range: 5",
                           "Content-Range: bytes 9223372036854775807-9223372036854775807/*",
                           "Retry-After: soon", "", ":", "HTTP/"})
    answer.take_header(line);
  EXPECT_FALSE(answer.length || answer.range_begin || answer.range_end || answer.retry_after);
  answer.take_reason("<Error><Code>Bad \x1b[31m</Code></Error>");
  EXPECT_EQ(answer.code, "");
}

TEST(AnswerTest, DistinguishesTemporaryFailures) {
  const auto trouble = [](int status, const char* code) {
    HttpResponse answer;
    answer.status = status;
    answer.code = code;
    return trouble_of_status(answer, true);
  };
  EXPECT_EQ(trouble(429, "").kind, Kind::throttled);
  EXPECT_TRUE(trouble(503, "SlowDown").may_pass);
  EXPECT_EQ(trouble(403, "SignatureDoesNotMatch").kind, Kind::not_allowed);
  EXPECT_FALSE(trouble(403, "").may_pass);
  EXPECT_EQ(trouble(400, "ExpiredToken").kind, Kind::not_allowed);
  EXPECT_EQ(trouble(500, "").kind, Kind::unreadable);
  EXPECT_TRUE(trouble(500, "").may_pass);
  EXPECT_EQ(trouble(416, "").kind, Kind::truncated);
  EXPECT_THAT(trouble(301, "PermanentRedirect").what, HasSubstr("AWS_REGION"));
}

TEST(PatienceTest, EndsAndObeysTheServer) {
  RetryPolicy patience;
  for (int tries = 1; tries < RetryPolicy::kMaxTries; ++tries) {
    const auto pause = patience.pause(tries, std::nullopt);
    ASSERT_TRUE(pause);
    EXPECT_LE(*pause, RetryPolicy::kFirstPause << (tries - 1));
  }
  EXPECT_FALSE(patience.pause(RetryPolicy::kMaxTries, std::nullopt));
  EXPECT_GE(*patience.pause(1, 2.0), 2'000'000'000);
  EXPECT_FALSE(patience.pause(1, 3600.0));
  RetryPolicy tired;
  int again = 0;
  while (tired.pause(1, std::nullopt)) ++again;
  EXPECT_EQ(again, RetryPolicy::kMaxAtOnce);
  for (int i = 0; i < 11; ++i) tired.went_well();
  EXPECT_TRUE(tired.pause(1, std::nullopt));
}

}  // namespace
}  // namespace loaderscope::source
