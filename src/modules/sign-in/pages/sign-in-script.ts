/** Runs in the browser, as a file of its own: the pages' policy forbids inline scripts. Without it passwords work all the same. */
export const SIGN_IN_SCRIPT = `
(() => {
  'use strict';
  const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  for (const time of document.querySelectorAll('time')) time.textContent = clock.format(new Date(time.dateTime));

  const webAuthn = window.SimpleWebAuthnBrowser;
  if (!webAuthn || !webAuthn.browserSupportsWebAuthn()) return;
  for (const part of document.querySelectorAll('[data-needs-passkeys]')) part.hidden = false;
  // Of two ways the passkey is the better one.
  for (const button of document.querySelectorAll('[data-needs-passkeys] ~ form [data-main]')) {
    button.classList.add('plain');
  }

  const call = async (path, body) => {
    const answer = await fetch('/api/v1/auth/' + path, {
      method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
    });
    const said = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(said.detail || 'It did not work. Please try again.');
    return said;
  };

  const WORDS = {
    NotAllowedError: 'Nothing was chosen, or it took too long. You can try again.',
    AbortError: 'Nothing was chosen. You can try again.',
    InvalidStateError: 'This device has a passkey of yours already.',
    ConstraintError: 'This device cannot check that it is you: set up a screen lock, or use another device.',
    SecurityError: 'Passkeys work only where this service is reached by its own address.',
  };
  const wordsOf = (error) => WORDS[error.name] || (error.name === 'TypeError' ? 'The service could not be reached.' : error.message);

  const ACTIONS = {
    'sign-in': async ({ returnTo }) => {
      const response = await webAuthn.startAuthentication({ optionsJSON: await call('passkey/options', {}) });
      return (await call('passkey', { response, returnTo })).returnTo;
    },
    invitation: async ({ token }) => {
      const path = 'invitations/' + encodeURIComponent(token) + '/passkey';
      const response = await webAuthn.startRegistration({ optionsJSON: await call(path + '/options', {}) });
      return (await call(path, { response })).returnTo;
    },
    add: async ({ current }) => {
      const optionsJSON = await call('passkeys/options', current ? { current } : {});
      await call('passkeys', { response: await webAuthn.startRegistration({ optionsJSON }) });
      return '/sign-in?done=passkey-added';
    },
  };

  const run = async (button, action, given) => {
    for (const done of document.querySelectorAll('.note.good')) done.hidden = true;
    const said = button.closest('.card').querySelector('[data-said]');
    said.hidden = true;
    button.disabled = true;
    button.setAttribute('aria-busy', 'true');
    try {
      window.location.assign(await ACTIONS[action](given));
    } catch (error) {
      said.textContent = wordsOf(error);
      said.hidden = false;
      button.disabled = false;
      button.removeAttribute('aria-busy');
    }
  };

  for (const button of document.querySelectorAll('[data-passkey]')) {
    button.addEventListener('click', () => run(button, button.dataset.passkey, button.dataset));
  }
  for (const form of document.querySelectorAll('[data-passkey-add]')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      run(form.querySelector('button'), 'add', { current: form.elements.current && form.elements.current.value });
    });
  }
})();
`;
