// A file that was opened from a disk may start no worker; who asks for one computes by itself.
export default "";
