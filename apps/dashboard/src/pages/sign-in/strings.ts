export const words = {
  title: 'Sign in',
  email: 'Email address',
  password: 'Password',
  submit: 'Sign in',
  code: {
    title: 'Enter code',
    again: 'Start again',
  },
  link: {
    about: 'This link works once.',
    again: 'Sign in with a password',
  },
  forgot: {
    link: 'Forgot password?',
    title: 'Reset password',
    submit: 'Email reset link',
    back: 'Back to sign-in',
  },
  reset: {
    title: 'Choose a password',
    password: 'New password',
    about: 'Ends every other session of yours.',
    submit: 'Set password',
  },
  invitation: {
    title: 'Accept invitation',
    workspace: (inviter: string, workspace: string, role: string) =>
      `${inviter} invited you to ${workspace} as ${role}.`,
    instance: (inviter: string) => `${inviter} invited you to operate this instance.`,
    known: 'Your existing password stays valid.',
    email: 'Email address',
    submit: 'Accept invitation',
  },
  help: 'No account yet? Ask an admin of your workspace to invite you.',
  operatorHelp: 'Sign-in for operators',
  operatorAbout:
    'The first sign-in link was printed by npm start. To print a new one on the server, run npx postrider operators login-link.',
  picture: {
    claim: 'Transactional email that explains itself',
    about: 'Each step with its time, each response in plain words, on your own Postgres.',
    steps: {
      accepted: 'Accepted',
      queued: 'Queued',
      connect: 'Connect',
      tls: 'TLS',
      data: 'Data',
      delivered: 'Delivered',
    },
  },
};
