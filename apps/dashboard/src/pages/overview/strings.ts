export const words = {
  title: 'Overview',
};
