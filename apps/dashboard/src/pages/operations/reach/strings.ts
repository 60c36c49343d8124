export const words = {
  label: 'Whose',
  workspace: 'This workspace',
  instance: 'Instance',
};
