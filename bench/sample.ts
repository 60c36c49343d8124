/** The request body of the accept benchmarks: about 1.5 kB, as a shop would send. */
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
