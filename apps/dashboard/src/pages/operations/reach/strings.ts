export const words = {
  label: 'Scope',
  workspace: 'This workspace',
  instance: 'Instance',
};
