# Attempts to do what a sandbox refuses or allows, one for each name in docs/commands/sandbox.md.
#
#   attempts.pl names                 prints the names of all attempts
#   attempts.pl outside FOLDER        makes what the attempts are about, and keeps it until standard
#                                     input ends; prints the settings for the attempts
#   attempts.pl try NAMES SETTINGS    makes these attempts, each in a process of its own, and prints
#                                     how each one ended
#
# Perl, because its `syscall` makes any system call, which safe Rust cannot. The numbers of the calls
# are settings too (`fchmodat=268`), since they differ between processors.

use strict;
use warnings;
use Errno qw(EAFNOSUPPORT EFAULT EINVAL ENODEV ENOENT ENOKEY ENOTTY EOPNOTSUPP EPROTONOSUPPORT ESRCH);
use Fcntl;
use POSIX ();
use Socket;

$| = 1;
my (%set, @names, %attempts);
use constant { AT_FDCWD => -100, NEW_USER => 0x10000000, NEW_UTS => 0x04000000, SIGCHLD => 17 };

# Makes a system call; digits are numbers, everything else is text.
sub call {
    my ($name, @arguments) = @_;
    defined $set{$name} or die "no call $name on this processor\n";
    @arguments = map { /^-?\d+$/ ? $_ + 0 : $_ } @arguments;
    my $result = syscall($set{$name} + 0, @arguments);
    return $result == -1 ? undef : $result;
}

# The same, where the value may be 0.
sub succeeds { return defined call(@_) }

# Whether the kernel carried a call out as far as these errors.
sub reaches {
    my ($errors, @call) = @_;
    return 1 if succeeds(@call);
    return scalar grep { $! == $_ } @$errors;
}

sub attempt {
    my ($name, $try) = @_;
    push @names, $name;
    $attempts{$name} = $try;
}

sub outside { return "$set{folder}/$_[0]" }
sub path { return outside($_[0]) . "\0" }
sub reading { open my $file, '<', $_[0] or return; return $file }
sub reads { my $file = reading($_[0]) or return; return sysread $file, my $text, 1 }
sub process { return "/proc/$set{pid}/$_[0]" }

# Files.
attempt 'read-file' => sub { reads(outside('secret')) };
attempt 'list-folder' => sub { opendir my $folder, outside('') };
attempt 'run-program' => sub { system(outside('program')) == 0 };
attempt 'change-file' => sub { open my $file, '>>', outside('secret') };
attempt 'empty-file' => sub { truncate outside('emptied'), 0 };
attempt 'create-file' => sub { open my $file, '>', outside('created') };
attempt 'create-folder' => sub { mkdir outside('new') };
attempt 'create-link' => sub { symlink 'secret', outside('symlink') };
attempt 'remove-file' => sub { unlink outside('removed') };
attempt 'rename-file' => sub { rename outside('renamed'), outside('renamed2') };
attempt 'link-file' => sub { link outside('secret'), outside('hardlink') };
attempt 'change-readable-file' => sub { open my $file, '>>', $set{readable} };
attempt 'create-in-readable-folder' => sub { open my $file, '>', "$set{readable}.new" };
attempt 'control-device' => sub {
    open my $device, '<', '/dev/ptmx' or return;
    return ioctl $device, 0x80045430, my $number = pack 'i', 0;
};
attempt 'open-unchecked' => sub { sysopen my $file, outside('secret'), 3 };
attempt 'openat2-unchecked' => sub { succeeds('openat2', AT_FDCWD, path('secret'), pack('Q3', 3, 0, 0), 24) };

# Metadata of files that are named by a path.
my $times = pack 'q4', 1, 0, 1, 0;
attempt 'chmod' => sub { chmod 0600, outside('secret') };
attempt 'fchmodat' => sub { succeeds('fchmodat', AT_FDCWD, path('secret'), 0600) };
attempt 'fchmodat2' => sub { succeeds('fchmodat2', AT_FDCWD, path('secret'), 0600, 0) };
attempt 'chown' => sub { chown $>, -1, outside('secret') };
attempt 'lchown' => sub { POSIX::lchown($>, -1, outside('secret')) };
attempt 'fchownat' => sub { succeeds('fchownat', AT_FDCWD, path('secret'), $>, -1, 0) };
attempt 'utime' => sub { succeeds('utime', path('secret'), pack 'q2', 1, 1) };
attempt 'utimes' => sub { succeeds('utimes', path('secret'), $times) };
attempt 'futimesat' => sub { succeeds('futimesat', AT_FDCWD, path('secret'), $times) };
attempt 'utimensat' => sub { succeeds('utimensat', AT_FDCWD, path('secret'), $times, 0) };
attempt 'file_setattr' => sub { reaches([EINVAL], 'file_setattr', AT_FDCWD, path('secret'), $times, 1, 0) };
my %attributes = (
    setxattr => ["user.new\0", 'x', 1, 0], lsetxattr => ["user.new\0", 'x', 1, 0],
    getxattr => ["user.kept\0", 0, 0], lgetxattr => ["user.kept\0", 0, 0],
    listxattr => [0, 0], llistxattr => [0, 0],
    removexattr => ["user.removexattr\0"], lremovexattr => ["user.lremovexattr\0"],
);
attempt $_ => do { my $call = $_; sub { succeeds($call, path('secret'), @{ $attributes{$call} }) } } for sort keys %attributes;
attempt 'setxattrat' => sub {
    my $value = 'x';
    succeeds('setxattrat', AT_FDCWD, path('secret'), 0, "user.new\0", pack('pLL', $value, 1, 0), 16);
};
attempt 'getxattrat' => sub { succeeds('getxattrat', AT_FDCWD, path('secret'), 0, "user.kept\0", pack('Q2', 0, 0), 16) };
attempt 'listxattrat' => sub { succeeds('listxattrat', AT_FDCWD, path('secret'), 0, 0, 0) };
attempt 'removexattrat' => sub { succeeds('removexattrat', AT_FDCWD, path('secret'), 0, "user.removexattrat\0") };

# Metadata of a file that is open.
sub of_open {
    my ($name, @arguments) = @_;
    my $file = reading($set{readable}) or return;
    return succeeds($name, fileno $file, @arguments);
}
sub flags {
    my ($get, $put, $size) = @_;
    my $file = reading($set{readable}) or return;
    my $flags = "\0" x $size;
    return ioctl($file, $get, $flags) && ioctl($file, $put, $flags);
}
attempt 'fchmod' => sub { of_open('fchmod', 0644) };
attempt 'fchown' => sub { of_open('fchown', $>, -1) };
attempt 'futimens' => sub { of_open('utimensat', 0, $times, 0) };
attempt 'fsetxattr' => sub { of_open('fsetxattr', "user.new\0", 'x', 1, 0) };
attempt 'fremovexattr' => sub { of_open('fremovexattr', "user.fremovexattr\0") };
attempt 'set-flags' => sub { flags(0x80086601, 0x40086602, 8) };
attempt 'set-extended-flags' => sub { flags(0x801c581f, 0x401c5820, 28) };
# File systems that do not know a request answer so, after the sandbox has let it pass.
sub requests {
    my ($path, $request, $value) = @_;
    sysopen my $file, $path, O_RDONLY or return;
    return 1 if ioctl $file, $request, $value;
    return scalar grep { $! == $_ } ENOTTY, EINVAL, EOPNOTSUPP;
}
attempt 'set-ext4-version' => sub { requests($set{readable}, 0x40086604, pack 'q', 7) };
attempt 'set-fat-attributes' => sub { requests($set{readable}, 0x40047211, pack 'L', 0) };
attempt 'create-subvolume' => sub { requests($set{readable} =~ s|/[^/]*$||r, 0x5000940e, pack 'x8Z4088', '') };
attempt 'fgetxattr' => sub { of_open('fgetxattr', "user.kept\0", 0, 0) };

# Watching files.
attempt $_ => do {
    my $call = $_;
    sub { my $watch = call($call, 0); defined $watch && succeeds('inotify_add_watch', $watch, path(''), 0x100) }
} for qw(inotify_init inotify_init1);
attempt 'dnotify' => sub {
    sysopen my $folder, $set{readable} =~ s|/[^/]*$||r, O_RDONLY or return;
    return fcntl($folder, 1026, 1) || $! == EINVAL;
};
attempt 'fanotify' => sub { succeeds('fanotify_init', 0x200, 0) };

# Sockets.
sub socket_of {
    my ($family, $type, $protocol) = @_;
    socket my $socket, $family, $type, $protocol or return;
    return $socket;
}
sub connects {
    my ($family, $type, $address) = @_;
    my $socket = socket_of($family, $type, 0) or return;
    return connect $socket, $address;
}
sub here { return pack_sockaddr_in($_[0], INADDR_LOOPBACK) }
attempt 'tcp-connect' => sub { connects(AF_INET, SOCK_STREAM, here($set{tcp})) };
attempt 'tcp-listen' => sub {
    my $socket = socket_of(AF_INET, SOCK_STREAM, 0) or return;
    return bind($socket, here(0)) && listen($socket, 1);
};
attempt 'udp' => sub {
    my $socket = socket_of(AF_INET, SOCK_DGRAM, 0) or return;
    return send $socket, 'x', 0, here($set{udp});
};
attempt 'ipv6' => sub { socket_of(AF_INET6, SOCK_DGRAM, 0) || $! == EAFNOSUPPORT };
attempt 'netlink-route' => sub { socket_of(16, SOCK_RAW, 0) };
my %netlink = (sock_diag => 4, xfrm => 6, audit => 9, netfilter => 12, uevent => 15, generic => 16);
attempt "netlink-$_" => do { my $number = $netlink{$_}; sub { socket_of(16, SOCK_RAW, $number) } } for sort keys %netlink;
attempt 'raw-socket' => sub { socket_of(AF_INET, SOCK_RAW, 1) };
attempt 'packet-socket' => sub { socket_of(17, SOCK_RAW, 0) };
attempt 'vsock' => sub { socket_of(40, SOCK_STREAM, 0) || $! == EAFNOSUPPORT };
attempt 'crypto-socket' => sub { socket_of(38, SOCK_SEQPACKET, 0) || $! == EAFNOSUPPORT };
attempt 'socket-file' => sub { connects(AF_UNIX, SOCK_STREAM, pack_sockaddr_un(outside('bus'))) };
attempt 'datagram-file' => sub { connects(AF_UNIX, SOCK_DGRAM, pack_sockaddr_un(outside('log'))) };
attempt 'abstract-socket' => sub { connects(AF_UNIX, SOCK_STREAM, pack_sockaddr_un("\0$set{queue}")) };
attempt 'datagram-pair' => sub { socketpair my $one, my $two, AF_UNIX, SOCK_DGRAM, 0 };
attempt 'other-pair' => sub {
    reaches([EAFNOSUPPORT, EPROTONOSUPPORT, EOPNOTSUPP], 'socketpair', AF_INET, SOCK_STREAM, 0, "\0" x 8);
};
attempt 'stream-pair' => sub { socketpair my $one, my $two, AF_UNIX, SOCK_STREAM, 0 };

# Other processes.
sub of_pidfd {
    my ($name, @arguments) = @_;
    my $process = call('pidfd_open', $set{pid}, 0);
    return defined $process && succeeds($name, $process, @arguments);
}
attempt 'kill' => sub { kill 0, $set{pid} };
attempt 'pidfd_send_signal' => sub { of_pidfd('pidfd_send_signal', 0, 0, 0) };
attempt 'prlimit' => sub { succeeds('prlimit64', $set{pid}, 4, pack('Q2', 0, 0), 0) };
attempt 'setpriority' => sub { setpriority 0, $set{pid}, 5 };
attempt 'setpriority-group' => sub { setpriority 1, 0, 5 };
# A user without processes.
attempt 'setpriority-user' => sub { reaches([ESRCH], 'setpriority', 2, 54321, 5) };
# No processor at all, which is refused after the permissions.
attempt 'sched_setaffinity' => sub { reaches([EINVAL], 'sched_setaffinity', $set{pid}, 128, "\0" x 128) };
attempt 'sched_setscheduler' => sub { succeeds('sched_setscheduler', $set{pid}, 0, pack 'i', 0) };
attempt 'sched_setparam' => sub { succeeds('sched_setparam', $set{pid}, pack 'i', 0) };
attempt 'sched_setattr' => sub { succeeds('sched_setattr', $set{pid}, pack('LLQlLQ3', 48, 0, 0, 10, 0, 0, 0, 0), 0) };
attempt 'ioprio_set' => sub { succeeds('ioprio_set', 1, $set{pid}, 2 << 13 | 4) };
attempt 'ptrace' => sub { succeeds('ptrace', 0x4206, $set{pid}, 0, 0) };
attempt 'process_vm_readv' => sub {
    my $buffer = 'x' x 8;
    reaches([EFAULT], 'process_vm_readv', $set{pid}, pack('pQ', $buffer, 8), 1, pack('Q2', 0, 8), 1, 0);
};
attempt 'read-memory' => sub { reading(process('mem')) };
attempt 'read-environment' => sub { reads(process('environ')) };
attempt 'open-descriptor' => sub { reading(process('fd/0')) };
attempt 'pidfd_getfd' => sub { of_pidfd('pidfd_getfd', 0, 0) };
attempt 'kcmp' => sub { succeeds('kcmp', $$, $set{pid}, 1, 0, 0) };

# Shared memory, semaphores and messages.
# Makes one, and removes it again: the kernel keeps it after the process.
sub makes {
    my ($get, $remove, @arguments) = @_;
    my $id = call($get, 0, @arguments, 0600);
    return defined $id && succeeds($remove, $id, 0, 0);
}
attempt 'shmget' => sub { makes('shmget', 'shmctl', 1) };
attempt 'shmat' => sub { succeeds('shmat', $set{shm}, 0, 010000) };
attempt 'shmctl' => sub { succeeds('shmctl', $set{shm}, 2, "\0" x 256) };
attempt 'semget' => sub { my $id = call('semget', 0, 1, 0600); defined $id && succeeds('semctl', $id, 0, 0, 0) };
attempt 'semop' => sub { succeeds('semop', $set{sem}, pack('Sss', 0, 1, 0), 1) };
attempt 'semtimedop' => sub { succeeds('semtimedop', $set{sem}, pack('Sss', 0, 1, 0), 1, 0) };
attempt 'semctl' => sub { succeeds('semctl', $set{sem}, 0, 12, 0) };
attempt 'msgget' => sub { makes('msgget', 'msgctl') };
attempt 'msgsnd' => sub { succeeds('msgsnd', $set{msg}, pack('qa8', 1, 'x'), 8, 04000) };
attempt 'msgrcv' => sub { succeeds('msgrcv', $set{msg}, "\0" x 16, 8, 0, 04000) };
attempt 'msgctl' => sub { succeeds('msgctl', $set{msg}, 2, "\0" x 256) };
attempt 'mq_open' => sub { succeeds('mq_open', "$set{queue}\0", 2, 0, 0) };
attempt 'mq_unlink' => sub { succeeds('mq_unlink', "$set{queue}\0") };

# Namespaces and privileges.
my %namespaces = (
    time => 0x80, mount => 0x20000, cgroup => 0x02000000, uts => NEW_UTS, ipc => 0x08000000,
    user => NEW_USER, pid => 0x20000000, network => 0x40000000,
);
attempt "unshare-$_" => do { my $flag = $namespaces{$_}; sub { succeeds('unshare', $flag) } } for sort keys %namespaces;
sub child {
    my $child = call(@_);
    succeeds('exit', 0) if defined $child && $child == 0;
    return defined $child;
}
attempt 'clone-user' => sub { child('clone', NEW_USER | SIGCHLD, 0, 0, 0, 0) };
attempt 'clone3-user' => sub { child('clone3', pack('Q11', NEW_USER, 0, 0, 0, SIGCHLD, 0, 0, 0, 0, 0, 0), 88) };
attempt 'setns' => sub { my $file = reading('/proc/self/ns/uts') or return; succeeds('setns', fileno $file, NEW_UTS) };
attempt 'mount' => sub { reaches([ENODEV], 'mount', "none\0", path(''), "none\0", 0, 0) };
attempt 'chroot' => sub { chroot '/' };
attempt 'change-user' => sub { POSIX::setuid(54321) };
sub status {
    my ($field) = @_;
    my $file = reading('/proc/self/status') or return;
    my ($line) = grep { /^$field:/ } <$file>;
    return hex((split ' ', $line)[1]);
}
attempt 'capabilities' => sub { grep { status($_) } qw(CapInh CapPrm CapEff CapAmb) };
attempt 'privileged-program' => sub { !status('NoNewPrivs') };
attempt 'root' => sub { $> == 0 };
attempt 'inherited-descriptor' => sub { open my $file, '<&=', 9 or return; sysread $file, my $text, 1 };

# Services of the kernel.
attempt 'io_uring' => sub { reaches([EINVAL], 'io_uring_setup', 0, "\0" x 120) };
attempt 'bpf' => sub { reaches([EINVAL], 'bpf', 9999, 0, 0) };
attempt 'perf_event_open' => sub { reaches([EINVAL, ENOENT, EOPNOTSUPP], 'perf_event_open', "\0" x 128, 0, -1, -1, 0) };
attempt 'userfaultfd' => sub { succeeds('userfaultfd', 1) };
attempt 'syslog' => sub { succeeds('syslog', 10, 0, 0) };
attempt 'keyctl' => sub { succeeds('keyctl', 0, -3, 0) };
attempt 'add_key' => sub { succeeds('add_key', "user\0", "bowline-test\0", 'x', 1, -2) };
attempt 'request_key' => sub { reaches([ENOKEY], 'request_key', "user\0", "bowline-test\0", 0, -2) };
# The command has no terminal, so the kernel answers that.
sub types { my $text = 'x'; return ioctl(STDIN, $_[0], $text) || $! == ENOTTY }
attempt 'type-into-terminal' => sub { types(0x5412) };
attempt 'paste-into-console' => sub { types(0x541C) };

# What a sandbox does not prevent.
attempt 'stat' => sub { stat outside('secret') };
attempt 'readlink' => sub { defined readlink outside('pointer') };
attempt 'read-system' => sub { reads('/etc/passwd') };
attempt 'run-system-program' => sub { system('true') == 0 };
attempt 'read-readable-file' => sub { reads($set{readable}) };
attempt 'lock-file' => sub { my $file = reading($set{readable}) or return; flock $file, 2 };
attempt 'read-files-of-root' => sub { reads('/etc/shadow') };
attempt 'see-command-line' => sub { reads(process('cmdline')) };
attempt 'see-limits' => sub { succeeds('prlimit64', $set{pid}, 4, 0, "\0" x 16) };
attempt 'see-addresses' => sub { reads('/proc/net/fib_trie') };
attempt 'see-connections' => sub { reads('/proc/net/tcp') };
attempt 'own-environment' => sub { defined $ENV{BOWLINE_TEST_SECRET} };
attempt 'standard-error' => sub { syswrite STDERR, 'x' };
attempt 'own-limits' => sub { succeeds('prlimit64', 0, 4, pack('Q2', 0, 0), 0) };
attempt 'own-priority' => sub { setpriority 0, 0, 5 };
attempt 'new-session' => sub { defined POSIX::setsid() };

# Tries one thing in a process and a process group of its own.
sub run {
    my ($name) = @_;
    my $try = $attempts{$name} or die "no attempt is named $name\n";
    my $child = fork;
    if ($child == 0) {
        alarm 10;
        setpgrp;
        $! = 0;
        my $is_done = eval { $try->() };
        my $end = $is_done ? 'done' : $@ || "$!\n";
        chomp $end;
        print "$name: $end\n";
        POSIX::_exit(0);
    }
    waitpid $child, 0;
}

sub make {
    my ($name, $text) = @_;
    open my $file, '>', outside($name) or die "$name: $!";
    print $file $text;
}

sub make_files {
    make($_, 'x') for qw(secret emptied removed renamed);
    make('program', "#!/bin/sh\n");
    chmod 0700, outside('program');
    symlink 'secret', outside('pointer');
    call('setxattr', path('secret'), "user.$_\0", 'x', 1, 0) for qw(kept removexattr lremovexattr removexattrat);
    call('setxattr', "$set{readable}\0", "user.$_\0", 'x', 1, 0) for qw(kept fremovexattr);
}

sub bound {
    my ($type, $address) = @_;
    my $socket = socket_of(sockaddr_family($address), $type, 0) or die "socket: $!";
    bind $socket, $address or die "bind: $!";
    listen $socket, 9 if $type == SOCK_STREAM;
    return $socket;
}

sub port { return (unpack_sockaddr_in(getsockname $_[0]))[0] }

sub keep_outside {
    my $queue = "bowline-$$";
    make_files();
    my @files = (
        bound(SOCK_STREAM, pack_sockaddr_un(outside('bus'))),
        bound(SOCK_DGRAM, pack_sockaddr_un(outside('log'))),
        bound(SOCK_STREAM, pack_sockaddr_un("\0$queue")),
    );
    my ($tcp, $udp) = map { bound($_, here(0)) } SOCK_STREAM, SOCK_DGRAM;
    # Absent on kernels without them; then the attempts fail outside a sandbox too.
    my $shm = call('shmget', 0, 8, 01600) // 0;
    my $sem = call('semget', 0, 1, 01600) // 0;
    my $msg = call('msgget', 0, 01600) // 0;
    call('msgsnd', $msg, pack('qa8', 1, 'x'), 8, 0);
    call('mq_open', "$queue\0", 0102, 0600, 0);
    # Where Yama restricts tracing to ancestors, any process may trace this one.
    call('prctl', 0x59616d61, -1, 0, 0, 0);
    my ($tcp_port, $udp_port) = map { port($_) } $tcp, $udp;
    print "pid=$$ queue=$queue tcp=$tcp_port udp=$udp_port shm=$shm sem=$sem msg=$msg\n";
    sysread STDIN, my $end, 1;
    call('shmctl', $shm, 0, 0);
    call('semctl', $sem, 0, 0, 0);
    call('msgctl', $msg, 0, 0);
    call('mq_unlink', "$queue\0");
}

my ($mode, @words) = @ARGV;
if ($mode eq 'names') {
    print "$_\n" for @names;
} else {
    my $what = shift @words;
    %set = map { split /=/, $_, 2 } @words;
    if ($mode eq 'outside') { $set{folder} = $what; keep_outside() }
    else { run($_) for split /,/, $what }
}
