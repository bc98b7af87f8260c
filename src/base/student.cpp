// The only file that includes Boost.Math, whose templates take seconds to compile.
#include <algorithm>
#include <boost/math/distributions/students_t.hpp>

#include "base/quantiles.h"

namespace loaderscope {
namespace {

// NaN instead of an exception, and no long double.
namespace policies = boost::math::policies;
using Policy = policies::policy<policies::promote_double<false>,
                                policies::domain_error<policies::ignore_error>,
                                policies::overflow_error<policies::ignore_error>,
                                policies::evaluation_error<policies::ignore_error>>;
using Student = boost::math::students_t_distribution<double, Policy>;

Student student_distribution(std::int64_t degrees) {
  return Student(static_cast<double>(std::max<std::int64_t>(degrees, 1)));
}

}  // namespace

double student_quantile(double p, std::int64_t degrees) {
  return boost::math::quantile(student_distribution(degrees), p);
}

double student_probability(double t, std::int64_t degrees) {
  return boost::math::cdf(student_distribution(degrees), t);
}

}  // namespace loaderscope
