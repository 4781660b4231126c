// Shared by the checks of our pages: calls past them, pictures, and the check of a page's requests and errors.

/** A call by the root key, past the pages. */
export async function asRoot({ url, key }, method, path, body) {
  const answer = await fetch(new URL(path, url), {
    method, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Invites a person and returns the address in the invitation. */
export async function invited(server, email, more = {}) {
  const { link } = await asRoot(server, 'POST', '/api/v1/users/invitations', { email, role: 'admin', ...more });
  return link;
}

/** Checks that the page sent requests to these origins alone, and that its console shows no error but expected refusals. */
export function judgePage({ judge }, name, page, origins, refusals = /status of (400|401|403|404|409|422)/) {
  const abroad = page.requestedUrls().filter((url) => !/^(data|blob):/.test(url) && !origins.includes(new URL(url).origin));
  judge(`${name}: asks nobody else`, abroad.length === 0, abroad.join(' '));
  const errors = page.errors().filter((text) => !refusals.test(text));
  judge(`${name}: nothing is wrong in the console`, errors.length === 0, errors.join('\n'));
}
