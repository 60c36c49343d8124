export const words = {
  title: 'Account',
  password: 'Change password',
  about: 'This signs you out on all devices.',
  current: 'Current password',
  currentAbout: 'Leave empty if you don’t have one, or if you signed in with a link in the last 15 minutes.',
  next: 'New password',
  nextAbout: 'At least 10 characters.',
};
