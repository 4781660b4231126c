import { connect, type Socket } from 'node:net';

/** How many requests go out before their answers are read. */
const AT_ONCE = 50;

export type Statuses = Map<number, number>;

/**
 * Sends requests over one connection, many at a time without waiting for each answer: far more than a client could that waits.
 * @param requests as they go over the wire, each without a body
 * @returns how many answers had which status
 */
export async function sendPipelined(url: string, requests: Iterable<string>): Promise<Statuses> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const statuses: Statuses = new Map();
  try {
    let batch: string[] = [];
    for (const request of requests) {
      if (batch.push(request) < AT_ONCE) continue;
      await answered(socket, batch, statuses);
      batch = [];
    }
    if (batch.length > 0) await answered(socket, batch, statuses);
  } finally {
    socket.destroy();
  }
  return statuses;
}

const STATUS_LINE = /HTTP\/1\.1 (\d{3}) /g;

function answered(socket: Socket, requests: readonly string[], statuses: Statuses): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    let seen = 0;
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      STATUS_LINE.lastIndex = 0;
      let read = 0;
      for (let found = STATUS_LINE.exec(text); found !== null; found = STATUS_LINE.exec(text)) {
        const status = Number(found[1]);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        seen++;
        read = STATUS_LINE.lastIndex;
      }
      // A line may be cut by the end of a packet.
      text = text.slice(Math.max(read, text.length - 16));
      if (seen < requests.length) return;
      socket.off('data', onData).off('error', reject).off('close', onClose);
      resolve();
    };
    const onClose = () => reject(new Error('the server closed the connection'));
    socket.on('data', onData).on('error', reject).on('close', onClose);
    socket.write(requests.join(''));
  });
}
