import { MAX_DEPTH } from '../../json.js';

/** Context has lines: the names of members around a value and short texts before it, the nearest last. It is no longer than this. */
const CONTEXT_MAX = 128;
/** Of what the texts beside a value say, so that they leave the names around it room. */
const SAID_MAX = 64;
const NAME_MAX = 64;
/** A longer text is no label of what follows. */
const LABEL_MAX = 48;

/** The context inside of a context. */
export function within(context: string, inner: string): string {
  return joined(context, inner, CONTEXT_MAX);
}

/** The context of a member. */
export function withName(context: string, name: string): string {
  return within(context, inLine(name.slice(0, NAME_MAX)));
}

/** What the texts of an object or an array have said, with one more of them: `{"name": "card", "value": "4111…"}`. */
export function withText(said: string, text: string): string {
  return text.length > LABEL_MAX ? said : joined(said, inLine(text), SAID_MAX);
}

/** In whole lines: half of a word is another word. */
function joined(before: string, line: string, max: number): string {
  if (line === '' || before === '') return before + line;
  const whole = `${before}\n${line}`;
  return whole.length <= max ? whole : whole.slice(whole.indexOf('\n', whole.length - max - 1) + 1);
}

function inLine(text: string): string {
  return text.includes('\n') ? text.replaceAll('\n', ' ') : text;
}

/** One that is open. */
interface Level {
  readonly around: string;
  said: string;
  /** Of the member whose value comes next. */
  name: string | undefined;
  readonly isObject: boolean;
}

/** The context of each place in a JSON text, which is read from its beginning to its end. */
export class JsonContext {
  private readonly levels: Level[] = [];
  private level: Level;
  private tooDeep = 0;

  constructor(around = '') {
    this.level = { around, said: '', name: undefined, isObject: false };
  }

  /** Whether a string that begins here is the name of a member. */
  get isName(): boolean {
    return this.level.isObject && this.level.name === undefined;
  }

  /** Of the value that stands here. */
  ofValue(): string {
    return withName(this.ofName(), this.level.name ?? '');
  }

  /** Of the name of a member that stands here. */
  ofName(): string {
    return within(this.level.around, this.level.said);
  }

  /** An object or an array begins. */
  open(isObject: boolean): void {
    if (this.levels.length >= MAX_DEPTH) {
      this.tooDeep++;
      return;
    }
    this.levels.push(this.level);
    this.level = { around: this.ofValue(), said: '', name: undefined, isObject };
  }

  close(): void {
    if (this.tooDeep > 0) this.tooDeep--;
    else this.level = this.levels.pop() ?? this.level;
  }

  /** What comes next is the value of this member. */
  name(name: string): void {
    this.level.name = name;
  }

  text(text: string): void {
    this.level.said = withText(this.level.said, text);
  }

  /** Another member, or another element. */
  next(): void {
    this.level.name = undefined;
  }
}
