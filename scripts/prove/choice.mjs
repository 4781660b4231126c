// Which suites a change is a reason to try, and how many of them fit into the time there is.
import { SUBJECTS, pathOf } from './subjects.mjs';
import { suites } from './suites.mjs';

/** As many seconds of suites pass in one of the clock, since several run side by side. */
const AT_ONCE = 2;

/**
 * @param {readonly string[] | undefined} files the change, as paths from the checkout's folder; undefined for everything
 * @param {number | undefined} minutes how long the chosen ones may take together; undefined for as long as they do
 * @returns what was chosen, and what else the change is a reason for: those that it touches most come first
 */
export function chosenFor(files, minutes) {
  const reasons = suites().map((suite) => ({ suite, ...reasonFor(suite, files) })).filter(({ hits }) => hits > 0);
  reasons.sort((a, b) => b.share - a.share || secondsOf(a.suite) - secondsOf(b.suite));
  let time = (minutes ?? Infinity) * 60 * AT_ONCE;
  const [chosen, left] = [[], []];
  for (const reason of reasons) {
    const seconds = secondsOf(reason.suite);
    if (seconds <= time) {
      time -= seconds;
      chosen.push(reason);
    } else left.push(reason);
  }
  return { chosen, left };
}

const secondsOf = ({ name }) => SUBJECTS[name][0];

/** `share`: how much of what the suite is about was touched; a suite that was itself changed stands before all. */
function reasonFor({ name, file }, files) {
  if (files === undefined) return { hits: 1, share: 0, why: 'everything' };
  if (files.includes(file)) return { hits: 1, share: 2, why: 'it was changed itself' };
  const [, ...parts] = SUBJECTS[name];
  const paths = parts.map(pathOf);
  const touched = files.filter((path) => paths.some((part) => path.startsWith(part)) && !path.endsWith('.test.ts'));
  if (touched.length === 0) return { hits: 0, share: 0, why: '' };
  const share = paths.filter((part) => touched.some((path) => path.startsWith(part))).length / paths.length;
  return { hits: touched.length, share, why: touched.length === 1 ? touched[0] : `${touched[0]} and ${touched.length - 1} more` };
}
