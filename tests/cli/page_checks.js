// What stands in a page's tables and tiles, against the result that the page carries. Each check is
// [what is shown, what the result says in the same unit, its place].
const R = JSON.parse(document.getElementById('result').textContent);
const text = node => node.textContent.trim();
const tables = [...document.querySelectorAll('table')].map(table =>
  [...table.rows].map(row => [...row.cells].map(text)));
// Rows below a heading that has all of `columns`, as objects by its words.
function rows(...columns) {
  const table = tables.find(([head]) => columns.every(name => head.includes(name)));
  if (!table) throw new Error('no table with ' + columns);
  return table.slice(1).map(cells => Object.fromEntries(table[0].map((name, i) => [name, cells[i]])));
}
const tile = name => text([...document.querySelectorAll('.tiles dt')].find(
  term => text(term) === name).nextElementSibling);
// The key of a cause by its name in text.
const causeOf = name => ({'own code': 'opaque', loader: 'opaque'})[name] || name;
const labelled = (table, label) => table.find(row => Object.values(row)[0] === label);

const checksOf = {
  run() {
    const W = R.window.wall_s, checks = [
      [tile('busy'), R.device.busy, 'device.busy'],
      [tile('measured'), W, 'window.wall_s']];
    if (R.throughput.samples_per_s.mean !== null)
      checks.push([tile('samples per second'), R.throughput.samples_per_s.mean, 'samples_per_s']);
    for (const item of document.querySelector('.legend').children) {
      if (/^\d+ others /.test(text(item))) continue;
      const [, name, step, share] = text(item).match(/^([\w ]+?) ([\d.]+ \w+), ([\d.]+ %)/);
      const cause = causeOf(name);
      const seconds = cause === 'compute' ? R.account.compute_s : R.account.stall_s[cause];
      checks.push([step, seconds / R.window.steps, cause + ' per step']);
      checks.push([share, seconds / W, cause]);
    }
    const long = rows('median', '99.9 %');
    for (const [column, key] of Object.entries({'median': 'p50_s', '90 %': 'p90_s', '99 %': 'p99_s'}))
      checks.push([labelled(long, 'a step')[column], R.step_time[key], 'step_time.' + key]);
    return checks;
  },
  sweep() {
    return rows('workers', 'samples/s', 'busy %').flatMap(row => {
      const one = R.cases.find(each => each.settings['num-workers'] === row.workers);
      return [[row['samples/s'].split(' ')[0], one.samples_per_s.mean, row.workers],
              [row['busy %'].split(' ')[0] + ' %', one.busy.mean, row.workers + ' busy']];
    });
  },
  tune() {
    return rows('workers', 'model', 'samples/s').flatMap(row => {
      const one = R.cases.find(each => each.settings['num-workers'] === row.workers);
      return [[row['samples/s'], one.measured.samples_per_s.mean, row.workers],
              [row['busy %'].split(' ')[0] + ' %', one.measured.busy.mean, row.workers + ' busy'],
              [row.model + ' %', one.predicted.busy, row.workers + ' model']];
    });
  },
  'what-if'() {
    return rows('measured', 'fitted', 'predicted').flatMap(row => {
      const part = causeOf(row['step time']);
      return ['measured', 'fitted', 'predicted'].map(which => {
        const one = R[which], seconds = part === 'compute' ? one.compute_s : one.stall_s[part];
        return [row[which], part === 'samples/s' ? one.samples_per_s : seconds / one.window_s,
                which + ' ' + part];
      });
    });
  },
  plan() {
    const sizes = rows('ranks', 'hosts', 'samples/s').flatMap((row, i) => [
      [row.ranks, R.sizes[i].ranks, 'ranks'], [row.hosts, R.sizes[i].hosts, 'hosts'],
      [row['samples/s'], R.sizes[i].samples_per_s, row.ranks],
      [row.busy, R.sizes[i].busy, row.ranks + ' busy']]);
    const shared = rows('needed', 'given', 'used').map((row, i) =>
      [row.used, R.shared[i].needed / R.shared[i].given, R.shared[i].name]);
    return [...sizes, ...shared];
  },
  compare() {
    return rows('A', 'B', 'change', 'verdict').flatMap((row, i) => {
      const one = R.differences[i], change = row.change.replace('points', '%').replace('+', '');
      return [[row.A, one.a, one.name + ' of A'], [row.B, one.b, one.name + ' of B'],
              [change, one.change.mean, one.name]];
    });
  },
  'dataset-drift'() {
    const shown = rows('A', 'B', 'differ');
    return R.differences.flatMap(one => {
      const row = labelled(shown, one.what);
      return row ? [[row.differ.split(' %')[0] + ' %', one.share, one.what]] : [];
    });
  },
  selftest() {
    return rows('injected ms/step', 'found').flatMap((row, i) => [
      [row['injected ms/step'] + ' ms', R.stages[i].injected_s, row.stage],
      [row['found ms/step'] + ' ms', R.stages[i].recovered_s, row.stage],
      [row.found, R.stages[i].share, row.stage]]);
  },
  probe() {
    let probe = '';
    return rows('figure', 'value', 'noise').flatMap(row => {
      const [first, name] = Object.values(row);
      probe = first || probe;
      const of = R.probes[probe];
      const one = of && of.figures.find(each => each.name === name);
      return one ? [[row.value, one.value, probe + '.' + name]] : [];
    });
  },
  'dataset-info'() {
    return ['stored', 'width', 'height'].flatMap(name => {
      const cells = tables.find(table => table.some(row => row[0] === name && row.length > 6))
        .find(row => row[0] === name);
      const of = R[name === 'stored' ? 'stored_bytes' : name];
      return ['min', 'p10', 'p50', 'p90', 'p99', 'max'].map(
        (key, i) => [cells[i + 1], of[key], name + '.' + key]);
    });
  },
  // Each process by its parts of the time in the picture's table, then by those that have a column. A part is of the
  // main thread, and CPU of all threads.
  watch() {
    const of = row => R.processes.find(each => row[0].endsWith(`(${each.pid})`));
    const share = (row, word) => {
      const {user, system, cpu, no_core, ...others} = of(row).shares;
      return {CPU: user + system, 'on a core': cpu, 'no core': no_core, ...others}[word];
    };
    const parts = tables.find(([head]) => head[1] === 'part').slice(1);
    const [head, ...processes] = tables.find(([first]) => first.includes('process'));
    return [
      ...parts.map(row => [row[2], share(row, row[1]), row[0] + ' ' + row[1]]),
      ...processes.filter(of).flatMap(row => head.flatMap((word, i) =>
        share(row, word) !== undefined && row[i] ? [[row[i], share(row, word), row[0] + ' ' + word]] : []))];
  },
  'probe-link'() {
    const [head, ...shown] = tables.find(([first]) => first.includes('copy'));
    const sizes = [...new Set(R.link.map(cell => cell.bytes))];
    return shown.flatMap(row => sizes.map((bytes, i) => {
      const one = R.link.find(cell => cell.bytes === bytes && cell.memory === row[0] && cell.copy === row[1]);
      const rate = one ? one.bytes_per_s : R.link.find(cell => cell.bytes === bytes).bare_bytes_per_s;
      return [row[head.length - sizes.length + i] + ' GB/s', rate, row[0] + ' ' + row[1] + ' ' + bytes];
    }));
  },
};

const units = {'%': 0.01, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, B: 1, KB: 1e3, MB: 1e6,
               GB: 1e9, TB: 1e12, '/s': 1, 'KB/s': 1e3, 'MB/s': 1e6, 'GB/s': 1e9, 'TB/s': 1e12};
// Whether it is the value, as far as its last digit tells.
function agrees(shown, value) {
  const [, digits, unit] = shown.match(/^[±]?(-?[\d,]*\.?\d+)\s*(%|[A-Za-z]*\/?s|[A-Za-z]+)?$/) || [];
  if (digits === undefined) return false;
  const scale = unit === undefined ? 1 : units[unit];
  const places = (digits.split('.')[1] || '').length;
  const last = scale * 10 ** -places;
  return Math.abs(Number(digits.replaceAll(',', '')) * scale - value) <= 0.5001 * last + 1e-9 * Math.abs(value);
}

const kind = R.schema.replace(/^loaderscope\.(.*)\/1$/, '$1');
let said;
try {
  const checks = checksOf[kind]();
  said = {checked: checks.length, wrong: checks.filter(([shown, value]) => !agrees(shown, value))};
} catch (error) {
  said = {checked: 0, wrong: [String(error)]};
}
const node = document.createElement('pre');
node.id = 'checks';
node.textContent = JSON.stringify(said);
document.body.append(node);
