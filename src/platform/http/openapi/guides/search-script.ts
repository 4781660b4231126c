/**
 * Runs in the browser on every page of the documentation: results while somebody types, from the page that the box leads to without
 * scripts as well; and a button that copies what is to be typed.
 */
export const SEARCH_SCRIPT = `
(() => {
  'use strict';
  const form = document.querySelector('form[role=search]');
  const box = form.querySelector('input');
  const panel = document.createElement('div');
  panel.className = 'found';
  panel.hidden = true;
  panel.setAttribute('aria-live', 'polite');
  form.append(panel);
  let timer;
  let asking;

  const close = () => {
    clearTimeout(timer);
    asking?.abort();
    panel.hidden = true;
  };

  async function show() {
    asking?.abort();
    if (box.value.trim() === '') return close();
    asking = new AbortController();
    try {
      const answer = await fetch('/docs/search?q=' + encodeURIComponent(box.value), { signal: asking.signal });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const results = page.getElementById('results');
      results.removeAttribute('id');
      panel.replaceChildren(results);
      panel.hidden = false;
    } catch {
      // The next letter asks again, and Enter leads to the page.
    }
  }

  box.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(show, 150);
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !panel.hidden) {
      // The words stay, which browsers would clear.
      event.preventDefault();
      close();
      box.focus();
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    if (panel.hidden) return show();
    const stops = [box, ...panel.querySelectorAll('a')];
    stops[stops.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
  });
  panel.addEventListener('click', (event) => {
    if (event.target.closest('a')) close();
  });
  document.addEventListener('click', (event) => {
    if (!form.contains(event.target)) close();
  });
  document.addEventListener('focusin', (event) => {
    if (!form.contains(event.target)) close();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.closest('input, textarea, select, [contenteditable]');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    box.focus();
  });

  // Browsers give the clipboard to pages of https and of this machine alone.
  for (const block of navigator.clipboard ? document.querySelectorAll('pre.type') : []) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.querySelector('code').textContent);
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 2000);
    });
    const frame = document.createElement('div');
    frame.className = 'block';
    block.replaceWith(frame);
    frame.append(block, button);
  }
})();
`;
