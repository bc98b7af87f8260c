#include "report/answer/answer_html.h"

#include <fmt/format.h>

#include "base/replace_all.h"
#include "page/escape.h"

namespace loaderscope {
namespace {

// "909 -> about 1,250 samples/s" as a pair: now, and after the fix.
std::string pair_of_rates(const std::string& figures) {
  constexpr std::string_view kPairArrow = " -> ";
  const std::size_t arrow = figures.find(kPairArrow);
  if (arrow == figures.npos) return "";
  const std::string now = figures.substr(0, arrow), unit = figures.substr(figures.rfind(' '));
  return fmt::format(
      "<dl class=\"pair\"><div><dt>now</dt><dd>{}{}</dd></div><div><dt>after the fix</dt>"
      "<dd>{}</dd></div></dl>\n",
      escape_xml(now), now.ends_with(unit) ? "" : escape_xml(unit),
      escape_xml(figures.substr(arrow + kPairArrow.size())));
}

std::string html_of_line(const AnswerLine& line, GlossaryLinks& words) {
  const std::string label = escape_xml(line.label);
  const std::string text =
      line.is_command
          ? fmt::format("<p><b>{}:</b></p>\n<div class=\"copied\"><pre>{}</pre></div>\n", label,
                        escape_xml(line.text))
          : fmt::format("<p><b>{}:</b> {}</p>\n", label, page_prose(line.text, words));
  return pair_of_rates(line.figures) + text;
}

}  // namespace

std::string_view tone_class(LineTone tone) {
  switch (tone) {
    case LineTone::good:
      return "good";
    case LineTone::warning:
      return "warning";
    case LineTone::bad:
      return "bad";
    case LineTone::plain:
      break;
  }
  return "plain";
}

std::string page_prose(std::string_view text, GlossaryLinks& words, bool is_of_whys) {
  return replace_all(words.link_prose(text, is_of_whys), " %", "&nbsp;%");
}

std::string html_of_answer(const Answer& answer, const std::string& picture, GlossaryLinks& words) {
  std::string text = fmt::format("<h1 class=\"{}\">{}</h1>\n", tone_class(answer.tone),
                                 page_prose(answer.headline, words));
  if (!answer.ending.empty())
    text += fmt::format("<p class=\"made\">{}</p>\n", escape_xml(answer.ending));
  text += picture;
  for (const AnswerLine& line : answer.first) text += html_of_line(line, words);
  for (const AnswerLine& line : answer.last)
    if (line.label != "More") text += html_of_line(line, words);
  return text;
}

}  // namespace loaderscope
