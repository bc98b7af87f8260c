#include "source/remote/s3_listing.h"

#include <expat.h>

#include <memory>

#include "loaderscope/errors.h"

namespace loaderscope::source {
namespace {

constexpr std::size_t kMaxText = 4096;  // a key has 1024 bytes at most

class Parser {
 public:
  S3Listing parse(std::string_view xml) {
    const std::unique_ptr<XML_ParserStruct, decltype(&::XML_ParserFree)> parser(
        ::XML_ParserCreate(nullptr), &::XML_ParserFree);
    if (!parser) throw ValueError("there is no memory for its listing");
    ::XML_SetUserData(parser.get(), this);
    ::XML_SetElementHandler(parser.get(), &Parser::begin, &Parser::end);
    ::XML_SetCharacterDataHandler(parser.get(), &Parser::text);
    const auto size = static_cast<int>(xml.size());
    if (::XML_Parse(parser.get(), xml.data(), size, XML_TRUE) != XML_STATUS_OK || !is_listing_)
      throw ValueError("the server's answer is no listing of objects");
    if (too_long_) throw ValueError("the server lists a name of more than 4096 bytes");
    return std::move(listing_);
  }

 private:
  static Parser& self(void* user) { return *static_cast<Parser*>(user); }

  static void begin(void* user, const char* name, const char**) {
    Parser& parser = self(user);
    const std::string_view element = name;
    if (parser.path_.empty()) parser.is_listing_ = element == "ListBucketResult";
    parser.path_ += '/';
    parser.path_ += element;
    parser.text_.clear();
    if (parser.path_.size() > kMaxText) {
      parser.too_long_ = true;
      parser.path_.resize(kMaxText);
    }
  }

  static void text(void* user, const char* bytes, int size) {
    Parser& parser = self(user);
    parser.text_.append(bytes, static_cast<std::size_t>(size));
    if (parser.text_.size() > kMaxText) {
      parser.too_long_ = true;
      parser.text_.resize(kMaxText);
    }
  }

  static void end(void* user, const char*) {
    Parser& parser = self(user);
    S3Listing& listing = parser.listing_;
    const std::string_view path = parser.path_;
    if (path == "/ListBucketResult/Contents/Key") listing.keys.push_back(parser.text_);
    if (path == "/ListBucketResult/CommonPrefixes/Prefix") listing.prefixes.push_back(parser.text_);
    if (path == "/ListBucketResult/NextContinuationToken") listing.continuation = parser.text_;
    parser.path_.resize(std::min(parser.path_.rfind('/'), parser.path_.size()));
    parser.text_.clear();
  }

  S3Listing listing_;
  std::string path_, text_;
  bool is_listing_ = false, too_long_ = false;
};

}  // namespace

S3Listing parse_s3_listing(std::string_view xml) {
  if (xml.size() > (std::size_t{64} << 20)) throw ValueError("the server's listing is too long");
  return Parser().parse(xml);
}

}  // namespace loaderscope::source
