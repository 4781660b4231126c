// Begins and ends sessions as every way of signing in does, when it is asked to.
import { UserStore } from '../../../dist/src/modules/organizations/users/user.store.js';
import { Sessions } from '../../../dist/src/modules/sign-in/ports/sessions.js';
import { app, obey, within } from '../servers/product.mjs';

const get = (type) => app.get(type, { strict: false });
const [sessions, users] = [get(Sessions), get(UserStore)];

obey({
  begin: async (place, start) => within(place.organizationId, async (tx) => {
    await users.read(tx, place);
    return sessions.begin(tx, place, start);
  }),
  end: async (place, reason, by) => within(place.organizationId, (tx) => sessions.end(tx, [place], reason, by)),
});
