#include "report/answers_page.h"

#include <fmt/format.h>

#include "page/escape.h"
#include "page/html_page.h"
#include "report/answer/answer_html.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

// `pictures` are those of this result on the page, which the account links to; "" if there are
// none.
std::string titled_answer(const TitledResult& one, const std::string& pictures,
                          GlossaryLinks& words) {
  Answer answer;
  one.result.answer(answer);
  const std::string account = draw_run_in_short(*one.result.record, *one.result.analysis, pictures);
  return fmt::format("<section>\n<h2>{}</h2>\n", escape_xml(one.heading)) +
         html_of_answer(answer, account, words) + "</section>\n";
}

}  // namespace

void write_answers_page(std::ostream& out, const std::string& title,
                        std::span<const TitledResult> results, std::size_t drawn) {
  GlossaryLinks words;
  page::Sheet sheet;
  sheet.title = "loaderscope " + title;
  const TitledResult& shown = results[drawn];
  const std::string pictures = shown.result.draw();
  sheet.body = fmt::format("<p class=\"made\">loaderscope {} {}</p>\n", escape_xml(title),
                           escape_xml(shown.result.tool_version));
  for (std::size_t i = 0; i < results.size(); ++i)
    sheet.body += titled_answer(results[i], i == drawn ? pictures : "", words);
  sheet.body += fmt::format("<section>\n<h2>More pictures: {}</h2>\n</section>\n",
                            escape_xml(shown.heading)) +
                pictures + words.section();
  page::write_sheet(out, sheet);
}

}  // namespace loaderscope
