export const words = {
  title: 'Sign in',
  email: 'Email address',
  password: 'Password',
  submit: 'Sign in',
  link: {
    about: 'This link works once.',
    again: 'Sign in with a password',
  },
  help: 'No account yet? Ask your operator to invite you. The first sign-in link was printed by npm start. To print a new one on the server, run npx postrider operators login-link.',
};
