import type { EntityType } from './entity-types.js';

/** So many characters before a value, and behind it, are read for words that say what it is. */
const BEFORE = 64;
const BEHIND = 24;

const ID = 'national id|identity (?:card|number)|id (?:card|number|no)|identification number';

/**
 * Words in the languages of those who have such values. Of Latin, Greek and Cyrillic words the beginning must match, of others any
 * place.
 */
const WORDS: Partial<Record<EntityType, string>> = {
  PHONE_NUMBER:
    'phone|phones|tel|telephone|telefon|telefoon|t[ée]l[ée]phone|telefone|telefono|tel[ée]fono|tfno|mobile|mobil|m[óo]vil|' +
    'cell|cellulare|celular|' +
    'handy|gsm|fax|whatsapp|sms|call|calling|called|ring|dial|text (?:me|us|him|her)|hotline|rufnummer|anrufen|rufen|' +
    'erreichbar|portable|appel|joindre|' +
    'll[aá]m[ea]|marcar|chiama|ligue|ligar|telem[óo]vel|kom[óo]rk|zadzwo|dzwo|numer telefonu|bel|bellen|ring|tlf|puhelin|телефон|тел|' +
    'звон|позвон|моб|τηλ|κινητ|cep|电话|手机|致电|電話|携帯|전화|휴대폰|연락처|फ़ोन|फोन|मोबाइल|هاتف|جوال|טלפון|โทร',
  CREDIT_CARD:
    'card|card ?num|cardno|cc|' +
    'visa|master ?card|amex|american express|discover|diners|jcb|maestro|pan|cvv|cvc|ccv|debit|kreditkarte|karte|carte|' +
    'cb|tarjeta|carta|' +
    'cart[ãa]o|kart\\w*|creditcard|kortti|kort|карт|pay|paid|charge|卡号|信用卡|カード|카드',
  IP_ADDRESS:
    'ip|ipv4|ipv6|address|host|server|client|from|ping|ssh|subnet|gateway|dns|login|logged|adresse|serveur|servidor|' +
    'адрес|сервер|アドレス',
  MAC_ADDRESS: 'mac|ethernet|hardware address|bssid|device|interface|wlan|wi-?fi|nic',
  CRYPTO: 'wallet|ethereum|eth|ether|bitcoin|btc|crypto|token address|address|donat|usdt|portefeuille|cartera|кошел|钱包',
  US_SSN: 'ssn|social security|social sec|soc sec|ss ?#|ss no|taxpayer|tax id|seguro social',
  CA_SIN: 'sin|social insurance|nas|assurance sociale',
  BR_CPF: 'cpf|cadastro de pessoa',
  UK_NINO: 'nino|national insurance|ni (?:no|number)|nat ins',
  UK_NHS: 'nhs|national health|health service|patient',
  DE_TAX_ID: 'steuer|idnr|identifikationsnummer|tin|tax id',
  FR_NIR: 'nir|s[ée]curit[ée] sociale|secu|s[ée]cu|insee|num[ée]ro de s',
  ES_NIF: 'nif|dni|documento|identidad|identificaci[óo]n|spanish',
  ES_NIE: 'nie|extranjero|identidad|documento|residen',
  PT_NIF: 'nif|contribuinte|n[úu]mero fiscal|fiscal',
  NL_BSN: 'bsn|burgerservice|sofi|citizen service',
  BE_NATIONAL_NUMBER: 'rijksregister|registre national|niss|insz|national number|nationaal nummer|nrn',
  PL_PESEL: 'pesel',
  SE_PERSONNUMMER: 'person(?:nummer|nr)|pers ?nr|personal (?:identity )?number|samordningsnummer|födelsenummer',
  NO_FODSELSNUMMER: 'f[øo]dselsnummer|f[øo]dselsnr|personnummer|fnr|d-nummer|national identity',
  TR_TCKN: 'tc|t\\.c|tckn|kimlik|turkish',
  IN_AADHAAR: 'aadhaar|aadhar|adhaar|uidai|uid|आधार',
  IN_PAN: 'pan|permanent account|income tax|पैन',
  KR_RRN: 'rrn|resident registration|주민등록|주민번호',
  AU_TFN: 'tfn|tax file',
  ZA_ID_NUMBER: `south african|sa id|rsa id|identiteit|id number|${ID}`,
};

/** What else a number may be. Where such a word stands nearer to the value than one of the type's, the value is that. */
const OTHER_NUMBERS =
  'order|invoice|ticket|tracking|parcel|shipment|sku|isbn|issn|ean|gtin|upc|part (?:no|number)|model|serial|version|ver|' +
  'release|build|commit|' +
  'revision|rev|timestamp|epoch|unix time|batch|lot|article|item|case|issue|bug|pull request|pr|job|transaction|txn|reference|ref|' +
  'error code|code|line|row|page|bytes?|size|bestell\\w*|rechnung\\w*|auftrag\\w*|vorgang\\w*|sendung\\w*|artikel\\w*|' +
  'commande|facture|colis|' +
  'pedido|factura|env[íi]o|ordine|fattura|spedizione|encomenda|fatura|zam[óo]wieni\\w*|faktur\\w*|paczk\\w*|bestelling|factuur|pakket|' +
  'best[äa]llning|tilaus|заказ\\w*|счёт|счет|посылк\\w*|sipari[şs]|订单|订单号|单号|快递|注文番号|注文|伝票|주문번호|주문|송장';

/** Scripts that write without blanks, or whose words carry endings: there a word may stand anywhere. */
const NO_BLANKS = /^[\u0590-\uffff]/;
/** Shorter words must be whole; of longer ones the beginning is enough, whatever their endings. */
const WHOLE_UP_TO = 4;

const EXPRESSIONS = new Map(Object.entries(WORDS).map(([type, words]) => [type as EntityType, expressionOf(words)]));
const OTHERS = expressionOf(OTHER_NUMBERS, Number.POSITIVE_INFINITY);
/** Any of them: one look for it spares a dozen for each type that a number may be. */
const ANY = new RegExp(Object.values(WORDS).map((words) => expressionOf(words).source).join('|'), 'u');

function expressionOf(list: string, wholeUpTo = WHOLE_UP_TO): RegExp {
  // Bars in brackets are a word's own.
  const words = list.split(/\|(?![^(]*\))/);
  const plain = words.filter((word) => !NO_BLANKS.test(word)).map((word) => (word.length <= wholeUpTo ? `${word}(?!\\p{L})` : word));
  const others = words.filter((word) => NO_BLANKS.test(word));
  return new RegExp([`(?<![\\p{L}\\p{N}])(?:${plain.join('|')})`, ...others].join('|'), 'gu');
}

/** What stands in the place of a value, or the end of it: `<PHONE_NUMBER>` is no word of the next number. */
const PLACEHOLDERS = /[A-Z][A-Z_]*[0-9]*(?=>)/g;

interface ContextText {
  readonly text: string;
  readonly context: string;
}

/** What stands before a value, from where its words count. */
export interface WordsBefore {
  /** With what stands before the text, where that is near. */
  readonly all: string;
  /** Behind the last placeholder: what that stands for has been said to be something already, and words before it were about that. */
  readonly before: string;
}

export function wordsBefore({ text, context }: ContextText, start: number): WordsBefore {
  const from = Math.max(0, start - BEFORE);
  const outside = from === 0 && context !== '' ? `${spoken(context)}: ` : '';
  const written = outside + text.slice(from, start);
  const behind = written.includes('>') ? written.slice(lastEnd(PLACEHOLDERS, written) + 1) : written;
  return { all: inWords(written), before: inWords(behind) };
}

/**
 * Whether a word of any type stands before a value, or what stands before the text is near. Most long rows of digits stand far from
 * any.
 */
export function isAnyBefore({ text, context }: ContextText, start: number): boolean {
  const from = Math.max(0, start - BEFORE);
  return (from === 0 && context !== '') || (hasLetter(text, from, start) && ANY.test(inWords(text.slice(from, start))));
}

/** The same, behind it. */
export function isAnyBehind({ text }: ContextText, end: number): boolean {
  return hasLetter(text, end, end + BEHIND) && ANY.test(inWords(text.slice(end, end + BEHIND)));
}

/** Whether a word of the type stands near, and no word of another number between it and the value. */
export function isNear({ text }: ContextText, type: EntityType, { all, before }: WordsBefore, end: number): boolean {
  const words = EXPRESSIONS.get(type);
  if (words === undefined) return false;
  const said = lastEnd(words, before);
  if (said >= 0) return said >= lastEnd(OTHERS, before);
  const behind = inWords(/^[^.,;:\n<]*/.exec(text.slice(end, end + BEHIND))![0]);
  return lastEnd(words, behind) >= 0 && lastEnd(OTHERS, all) < 0;
}

/** As the words are listed: in lower case, and `social_security_number:` says it as "social security number" does. */
function inWords(text: string): string {
  const lower = text.toLowerCase();
  return lower.includes('_') ? lower.replaceAll('_', ' ') : lower;
}

function hasLetter(text: string, from: number, to: number): boolean {
  const end = Math.min(to, text.length);
  for (let at = from; at < end; at++) {
    const code = text.charCodeAt(at);
    if ((code | 0x20) >= 0x61 && (code < 0x7b || code >= 0xaa)) return true;
  }
  return false;
}

/** Names of members as words: `dateOfBirth` and `date_of_birth` are "date of birth". */
function spoken(names: string): string {
  return names.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' ').replaceAll('\n', ': ');
}

function lastEnd(words: RegExp, text: string): number {
  let end = -1;
  // `matchAll` makes an expression of its own for each text.
  words.lastIndex = 0;
  for (let match = words.exec(text); match; match = words.exec(text)) end = match.index + match[0].length;
  return end;
}
