/** The request body of the accept benchmarks: about 1.5 kB, typical for a shop. */
export const receipt = {
  from: 'app@mail.example.com',
  to: ['ada@rcpt.test'],
  subject: 'Your receipt for order 10023',
  html: `<p>${'Thank you for your order. '.repeat(48)}</p>`,
  text: 'Thank you.',
  reply_to: 'help@mail.example.com',
  headers: { 'X-Order': '10023' },
  tags: ['receipt', 'shop'],
};

const WORDS =
  'your order has shipped and will arrive on Tuesday; track it here — thanks for buying café crème, 10 € off next time';

export interface Letter extends Readonly<Record<string, unknown>> {
  readonly subject: string;
  /** Undefined if the product has to derive it from the HTML. */
  readonly text: string | undefined;
  readonly html: string;
}

/**
 * Returns a subject, text and HTML that make a message of about this many bytes: most of it HTML, some of it non-ASCII.
 */
export function letter(bytes: number): Letter & { readonly text: string } {
  const room = Math.max(200, bytes - 1200);
  return {
    subject: 'Your order has shipped',
    text: proseOf(room * 0.28),
    html: `<!doctype html><html><body><h1>Your order</h1><p>${proseOf(room * 0.6)}</p></body></html>`,
  };
}

/** Returns the same letter without its text, as most integrators send it. */
export function htmlLetter(bytes: number): Letter {
  return { ...letter(bytes), text: undefined };
}

function proseOf(bytes: number): string {
  const words = WORDS.split(' ');
  let prose = '';
  for (let index = 0; prose.length < bytes; index++) {
    prose += `${words[index % words.length]}${index % 12 === 11 ? '\n' : ' '}`;
  }
  return prose.trimEnd();
}
