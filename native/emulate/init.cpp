// The first process of an emulated Linux: runs /native_tests with its own arguments, says how they
// ended, and switches the machine off.
#include <sys/reboot.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>

int main(int, char** arguments) {
    const pid_t child = fork();
    if (child == 0) {
        execv("/native_tests", arguments);
        _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    std::printf("native_tests ended with status %d.\n", status);
    std::fflush(stdout);
    tcdrain(STDOUT_FILENO);
    reboot(RB_POWER_OFF);
    pause();
}
