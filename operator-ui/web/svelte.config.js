// Class names of scoped styles come from the style itself, so that no path of a machine decides them.
export default {
  compilerOptions: {
    runes: true,
    cssHash: ({ hash, css }) => `s${hash(css)}`,
  },
};
