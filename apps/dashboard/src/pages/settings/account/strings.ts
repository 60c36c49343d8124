export const words = {
  title: 'Account',
  password: 'Change password',
  about: 'Changing the password signs you out everywhere.',
  current: 'Current password',
  currentAbout: 'Leave empty if you have none, or signed in with a link in the last 15 minutes.',
  next: 'New password',
  nextAbout: 'At least 10 characters.',
};
