#include "page/html_page.h"

#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "page/escape.h"

namespace loaderscope::page {
namespace {

const EmbeddedFile& file(std::string_view name) {
  const auto files = page_files();
  return *std::find_if(files.begin(), files.end(),
                       [&](const EmbeddedFile& one) { return one.name == name; });
}

unsigned value_of(char digit) {
  return static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

// "sha256-..." of a policy: the digest in base64, of one in hexadecimal digits.
std::string source_hash(const EmbeddedFile& file) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text = "'sha256-";
  const std::string_view digits = file.sha256;
  // Three digits are two letters; of the last one, the 64th, two bits are nothing.
  for (std::size_t i = 0; i < digits.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t at = i; at < i + 3; ++at)
      bits = bits << 4 | (at < digits.size() ? value_of(digits[at]) : 0);
    text += kLetters[bits >> 6];
    if (i + 1 < digits.size()) text += kLetters[bits & 63];
  }
  return text + "='";
}

}  // namespace

void write_sheet(std::ostream& out, const Sheet& sheet) {
  const EmbeddedFile &style = file("page.css"), &script = file("page.js");
  fmt::print(out,
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"generator\" content=\"loaderscope\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "style-src {}; script-src {}; base-uri 'none'; form-action 'none'\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n"
             "<style>{}</style>\n</head>\n<body>\n",
             source_hash(style), source_hash(script), escape_xml(sheet.title), style.content);
  out << sheet.body;
  if (!sheet.json.empty()) {
    out << "<script type=\"application/json\" id=\"result\">\n"
        << escape_script(sheet.json) << "</script>\n";
  }
  out << "<script>" << script.content << "</script>\n</body>\n</html>\n";
}

}  // namespace loaderscope::page
