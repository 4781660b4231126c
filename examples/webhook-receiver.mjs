// A receiver of webhooks: takes what the service signed, once each.
//
//   COUNTERSIGN_WEBHOOK_SECRET=whsec_… npm run example:webhook-receiver        PORT names the port, 4020 unless it does
//
// The same secret belongs into the channel: PUT /api/v1/notifications/config/webhook (docs/notifications.md).
import { createServer } from 'node:http';
import { verifyWebhook } from '@countersign/sdk';

const secret = process.env.COUNTERSIGN_WEBHOOK_SECRET;
if (!secret) throw new Error('COUNTERSIGN_WEBHOOK_SECRET is not set.');
const BYTES_MAX = 1024 * 1024;
/** A message that is not answered in time comes again, under the same id. Keep them where they survive a restart. */
const handled = new Set();

const server = createServer(async (request, response) => {
  const answer = (status) => response.writeHead(status).end();
  try {
    const body = await bytesOf(request);
    if (body === undefined) return answer(413);
    if (!(await verifyWebhook(body, request.headers, secret))) return answer(401);
    const id = request.headers['webhook-id'];
    if (!handled.has(id)) handle(JSON.parse(body));
    handled.add(id);
    answer(204);
  } catch (error) {
    console.error(error.message);
    answer(500);
  }
});
server.listen(Number(process.env.PORT ?? 4020), '127.0.0.1', () => console.log(`listening at http://127.0.0.1:${server.address().port}`));

// Replace it by what yours does.
function handle({ event, ...told }) {
  console.log(event, JSON.stringify(told));
}

/** The bytes as they came: what was parsed and written anew has another signature. */
async function bytesOf(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    if ((length += chunk.length) > BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
