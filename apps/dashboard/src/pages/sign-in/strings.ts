export const words = {
  title: 'Sign in',
  email: 'Email address',
  password: 'Password',
  submit: 'Sign in',
  link: {
    about: 'This link signs you in once.',
    again: 'Sign in with a password',
  },
  help: 'No account yet? The operator of this Postrider makes one; npm start printed the first sign-in link. On the machine itself, npx postrider operators login-link prints a new one.',
};
