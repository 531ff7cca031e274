#include "gcn.h"

typedef struct {
    int starting;
    int count;
} Node;

kernel void bfs1(global const Node* nodes, global const int* edges, global uchar* mask, global uchar* updating,
                 global const uchar* visited, global int* cost, int n) {
    int t = GROUP_X * 512 + THREAD_X;
    if (t < n && mask[t]) {
        mask[t] = 0;
#pragma nounroll
        for (int i = nodes[t].starting; i < nodes[t].count + nodes[t].starting; i++) {
            int id = edges[i];
            if (!visited[id]) {
                cost[id] = cost[t] + 1;
                updating[id] = 1;
            }
        }
    }
}

kernel void bfs2(global uchar* mask, global uchar* updating, global uchar* visited, global uchar* over, int n) {
    int t = GROUP_X * 512 + THREAD_X;
    if (t < n && updating[t]) {
        mask[t] = 1;
        visited[t] = 1;
        *over = 1;
        updating[t] = 0;
    }
}
