import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** An address that moves from one database server to another, as a virtual address or a proxy before them does. */
export interface MovingAddress {
  readonly port: number;
  /** What stands ends; what comes goes there. Undefined: nobody answers. */
  move(port: number | undefined): void;
  close(): Promise<void>;
}

export async function movingAddress(to: number): Promise<MovingAddress> {
  const sockets = new Set<Socket>();
  let target: number | undefined = to;
  const listener = createServer((near) => {
    if (target === undefined) return void near.destroy();
    const far = connect(target, '127.0.0.1');
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      sockets.add(socket);
      socket.setNoDelay(true).pipe(other);
      socket.on('error', () => undefined).once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve, reject) => listener.once('error', reject).listen(0, '127.0.0.1', resolve));
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (listener.address() as AddressInfo).port,
    move: (port) => {
      target = port;
      end();
    },
    close: async () => {
      const closed = new Promise((resolve) => listener.close(resolve));
      end();
      await closed;
    },
  };
}
