/** The server may not start as things stand; the message is all that the operator needs, so it is printed without a stack. */
export class StartRefused extends Error {
  override readonly name: string = 'StartRefused';
}
