// The page around the verifier: hands a file to a worker that runs verify.mjs, and shows what it says.
const byId = (id) => document.getElementById(id);

const KINDS = {
  edited: 'Changed', deleted: 'Taken out', inserted: 'Put in', reordered: 'Moved', truncated: 'Cut off', chain_removed: 'Whole chain gone',
  forked: 'Two histories', column_mismatch: 'Changed column', unauthorised_erasure: 'Erased without an order',
  checkpoint_invalid: 'Checkpoint not valid', archive_altered: 'Archive changed', tree_mismatch: 'Not what was signed',
};

const VERDICTS = {
  valid: ['Valid', 'Every entry is the one that was written, none is missing but what signed sweeps took out for its age, and a signed checkpoint covers them all.'],
  valid_unanchored: ['Valid so far', 'Nothing is wrong. Some entries are younger than the last signed checkpoint, so only the next one proves them.'],
  tampered: ['Tampered', 'This is not the log that was written.'],
  incomplete: ['Incomplete', 'The file ends before its end: the last line, which seals it, is missing. A download that broke off looks like this, and so does a file whose end somebody cut off. Fetch it once more. What is listed is what is not there.'],
  unreadable: ['Not read', ''],
};

const PARTS = {
  valid: 'What is shown is what was written, and a signed checkpoint covers it.',
  valid_unanchored: 'Nothing is wrong with what is shown. Some of it is younger than the last signed checkpoint, so only the next one proves it.',
};
const PART = { archive: 'The file is an archive without its values: of these and of the rest it says nothing.' };
const ANY_PART = 'The file is a part: of the rest it says nothing.';

/** Of these kinds is what a file lacks behind the place where it was cut. */
const LACKING = ['truncated', 'chain_removed', 'deleted', 'unauthorised_erasure'];

/** Runs in the worker, before the verifier's own text. */
const WORKER = `
onmessage = async ({ data: { file, keys, remembered } }) => {
  try {
    let read = 0;
    const counted = new TransformStream({ transform(chunk, out) { read += chunk.length; out.enqueue(chunk); } });
    const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    const bytes = file.stream().pipeThrough(counted);
    const plain = head[0] === 0x1f && head[1] === 0x8b ? bytes.pipeThrough(new DecompressionStream('gzip')) : bytes;
    const chunks = (async function* () {
      const reader = plain.getReader();
      for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
    })();
    const onProgress = ({ entries, breaks }) => postMessage({ read, entries, breaks });
    postMessage({ result: await verify(linesOf(chunks), { keys, remembered, onProgress }) });
  } catch (error) {
    postMessage({ error: error.message });
  }
};
`;

let worker;

function check(file) {
  worker?.terminate();
  // A module cannot be a worker of a page that was opened as a file; without its exports and its command line the text is a script.
  const source = byId('verifier').textContent.split('// --- 10.')[0].replace(/^export /gm, '');
  const url = URL.createObjectURL(new Blob([WORKER, source], { type: 'text/javascript' }));
  worker = new Worker(url);
  byId('result').hidden = true;
  byId('progress').hidden = false;
  byId('bar').value = 0;
  byId('name').textContent = file.name;
  byId('doing').textContent = `Reading ${file.name} …`;
  worker.onmessage = ({ data }) => {
    if (data.result) show(data.result);
    else if (data.error !== undefined) refuse(data.error);
    else {
      byId('bar').value = data.read / file.size;
      byId('doing').textContent = `${data.entries.toLocaleString('en')} entries read, ${data.breaks.toLocaleString('en')} breaks found`;
    }
  };
  worker.onerror = (event) => refuse(event.message || 'The browser did not start the verifier.');
  const keys = byId('keys').value.split('\n').map((line) => line.trim()).filter(Boolean);
  const note = byId('note').value.replace(/\r/g, '').replace(/^\s+/, '').replace(/\s*$/, '\n');
  const remembered = note === '\n' ? [] : note.split(/\n(?=\S+\/\S+\n\d+\n)/).map((one) => one.replace(/\s*$/, '\n'));
  worker.postMessage({ file, keys, remembered });
}

function verdict(name, meaning) {
  byId('progress').hidden = true;
  byId('result').hidden = false;
  byId('result').dataset.verdict = name;
  byId('verdict').textContent = VERDICTS[name][0];
  byId('meaning').textContent = meaning;
  byId('breaks').replaceChildren();
  byId('facts').replaceChildren();
  byId('kept').hidden = true;
}

function refuse(message) {
  verdict('unreadable', message);
  byId('result').dataset.done = 'yes';
}

function show(result) {
  const { breaks, counts, checkpoint, keys, remembered, notes } = result;
  const isPart = result.verdict in PARTS && !['log', 'organizations'].includes(result.covers);
  const name = isCut(result) ? 'incomplete' : result.verdict;
  verdict(name, isPart ? `${PARTS[name]} ${PART[result.covers] ?? ANY_PART}` : VERDICTS[name][1]);
  byId('breaks').append(...breaks.map(breakItem));
  const number = (value) => value.toLocaleString('en');
  facts('Breaks', counts.breaks > breaks.length ? `${number(counts.breaks)}; the first ${number(breaks.length)} are shown` : number(counts.breaks));
  facts('Read', `${number(counts.entries)} entries in ${number(counts.chains)} chains of ${number(counts.organizations)} organizations`);
  if (counts.unanchored > 0) facts('Younger than the checkpoint', `${number(counts.unanchored)} entries`);
  if (counts.erased > 0) facts('Erased by order', `${number(counts.erased)} values, each listed in an entry`);
  if (counts.withheld > 0) facts('Withheld', `${number(counts.withheld)} values of other people`);
  facts('Checkpoint', checkpoint ? `${checkpoint.origin}, ${number(checkpoint.size)} leaves, ${checkpoint.timestamp ?? 'no time'}` : 'none');
  for (const { vkey, pinned } of keys) facts(pinned ? 'Your key' : 'Key by the file’s own claim', pinned ? vkey : `${vkey}. Compare it with the one you were given.`);
  const words = { continued: 'the log goes on from it', rewritten: 'the log does not go on from it', unproven: 'not compared: keep it. That the log goes on from it is proven by ' };
  const proof = (ask) => (ask ? `an export with ${ask}.` : 'no export of this kind.');
  for (const { origin, size, state, ask } of remembered) facts('Remembered', `${origin}, ${number(size)} leaves: ${words[state]}${state === 'unproven' ? proof(ask) : ''}`);
  byId('kept').hidden = notes.length === 0 || result.verdict === 'tampered';
  byId('notes').textContent = notes.join('\n');
  byId('result').dataset.json = JSON.stringify(result);
  byId('result').dataset.done = 'yes';
}

/** Whether the end of the file is gone, and nothing else is wrong than what comes of that. */
function isCut({ breaks, counts }) {
  const isLast = ({ chain, position }) => chain === 'file' && position === counts.lines;
  const isEnd = (one) => isLast(one) && one.kind === 'truncated';
  return counts.breaks === breaks.length && breaks.some(isEnd) && breaks.every((one) => isLast(one) || LACKING.includes(one.kind));
}

function breakItem({ chain, position, entryId, kind, detail }) {
  const item = document.createElement('li');
  const [title, text, place] = ['b', 'span', 'small'].map((name) => document.createElement(name));
  title.textContent = KINDS[kind] ?? kind;
  // A name is no word: it stays as it is written.
  text.textContent = `${detail.replace(/^[a-z](?=[a-z]*[ ,:])/, (letter) => letter.toUpperCase())}. `;
  place.textContent = `${chain === 'file' ? 'line' : chain} ${position}${entryId ? `, ${entryId}` : ''} · ${kind}`;
  item.append(title, text, place);
  return item;
}

function facts(name, value) {
  const [term, said] = [document.createElement('dt'), document.createElement('dd')];
  term.textContent = name;
  said.textContent = value;
  byId('facts').append(term, said);
}

byId('file').addEventListener('change', ({ target }) => target.files[0] && check(target.files[0]));
byId('form').addEventListener('submit', (event) => event.preventDefault());
for (const name of ['dragenter', 'dragover', 'dragleave', 'drop']) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    byId('drop').classList.toggle('over', name === 'dragenter' || name === 'dragover');
    const file = name === 'drop' ? event.dataTransfer.files[0] : undefined;
    if (!file) return;
    // The picker names the file that was dropped, and none that was chosen before.
    const one = new DataTransfer();
    one.items.add(file);
    byId('file').files = one.files;
    check(file);
  });
}
